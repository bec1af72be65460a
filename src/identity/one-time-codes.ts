import { Secret, TOTP } from 'otpauth'
import type { OneTimeCodes } from '../gateway/ports/access/sign-in.ts'

const SECRET_BYTES = 20
const PERIOD_S = 30
const MS_PER_S = 1000
const CODE = /^\d{6}$/
/** Clocks of phones are rarely off by more. */
const PERIODS_OFF_MAX = 1

/** One-time codes in the form that all authenticator apps know: SHA-1, six digits, 30 seconds. */
export const oneTimeCodes: OneTimeCodes = {
  newSecret: () => new Secret({ size: SECRET_BYTES }).base32,
  uri: (secret, { email, issuer }) => totpOf(secret, { label: email, issuer }).toString(),
  stepOf(code, secret, nowMs) {
    const digits = code.replaceAll(' ', '')
    if (!CODE.test(digits)) return undefined
    const off = totpOf(secret).validate({ token: digits, timestamp: nowMs, window: PERIODS_OFF_MAX })
    return off === null ? undefined : Math.floor(nowMs / MS_PER_S / PERIOD_S) + off
  },
}

function totpOf(secret: string, labels: { readonly label?: string; readonly issuer?: string } = {}): TOTP {
  return new TOTP({
    ...labels,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_S,
  })
}
