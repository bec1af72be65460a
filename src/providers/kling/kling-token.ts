import type { Clock } from '../../gateway/ports/clock.ts'

/** What a token carries beside its times. */
export type KlingKeys = { readonly accessKey: string; readonly secretKey: string }

/** What the API's documentation uses. */
export const TOKEN_TTL_S = 1800
/** A token is replaced this long before it expires, so that none expires on its way. */
const RENEWED_BEFORE_S = 300
/** How far this machine's clock may be ahead of the provider's. */
export const CLOCK_SKEW_S = 60

const HEADER = base64Url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))

/** A JWT that is valid from a little before `nowMs`, signed with HMAC-SHA256. */
export function signToken({ accessKey, secretKey }: KlingKeys, nowMs: number): string {
  const nowS = Math.floor(nowMs / 1000)
  const claims = { iss: accessKey, exp: nowS + TOKEN_TTL_S, nbf: nowS - CLOCK_SKEW_S }
  const signed = `${HEADER}.${base64Url(JSON.stringify(claims))}`
  const signature = new Bun.CryptoHasher('sha256', secretKey).update(signed).digest()
  return `${signed}.${signature.toString('base64url')}`
}

export type KlingTokens = {
  /** A token of these keys with at least some minutes left. */
  tokenFor(keys: KlingKeys): string
  /** The provider refused the token, for example because a clock was set: the next one is signed anew. */
  forget(keys: KlingKeys): void
}

/** Keeps the token of each access key until shortly before its end. */
export function klingTokens(clock: Clock): KlingTokens {
  // An operator has a few providers, and each change of a key makes one more entry.
  const kept = new Map<
    string,
    { readonly secretKey: string; readonly token: string; readonly renewAtMs: number }
  >()
  return {
    tokenFor(keys) {
      const known = kept.get(keys.accessKey)
      // Wall clocks step, so the age of a token is measured on the other one.
      const nowMs = clock.monotonicMs()
      if (known !== undefined && known.secretKey === keys.secretKey && nowMs < known.renewAtMs)
        return known.token
      const token = signToken(keys, clock.now())
      const renewAtMs = nowMs + (TOKEN_TTL_S - RENEWED_BEFORE_S) * 1000
      kept.set(keys.accessKey, { secretKey: keys.secretKey, token, renewAtMs })
      return token
    },
    forget: ({ accessKey }) => void kept.delete(accessKey),
  }
}

function base64Url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
