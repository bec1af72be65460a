import type { Provider } from '../../domain/catalog/provider.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import { extraHeaders, type SecretOf } from '../http/address.ts'

type KlingTarget = { readonly url: URL; readonly headers: Headers; readonly keys: KlingKeys }

/**
 * The address and the headers of a path under `/v1/videos`, or why the provider cannot be called: a sentence for the
 * operator, without the keys. The base URL may end with the version.
 */
export function klingTarget(
  provider: Provider,
  path: string,
  { tokens, secretOf }: { readonly tokens: KlingTokens; readonly secretOf: SecretOf },
): KlingTarget | { readonly problem: string } {
  const url = URL.parse(provider.baseUrl ?? '')
  if (url === null) return { problem: 'the base URL is not an http or https URL' }
  const keys = keysOf(provider, secretOf)
  if (keys === undefined) return { problem: keysProblem(provider) }
  const extra = extraHeaders(provider, secretOf)
  if ('problem' in extra) return extra
  const base = url.pathname.replace(/\/$/, '').replace(/\/v1$/, '')
  url.pathname = `${base}/v1/videos/${path}`
  try {
    const headers = new Headers({ ...extra.headers, accept: 'application/json', 'user-agent': 'tollgate' })
    headers.set('content-type', 'application/json')
    headers.set('authorization', `Bearer ${tokens.tokenFor(keys)}`)
    headers.set('accept-encoding', 'identity')
    return { url, headers, keys }
  } catch {
    // The error's own message would quote the value, which may be a secret.
    return { problem: 'one of its headers cannot be sent' }
  }
}

/** Both keys are one secret, with a comma between them. */
function keysOf(provider: Provider, secretOf: SecretOf): KlingKeys | undefined {
  const [, accessKey, secretKey] = /^([^,]+),([^,]+)$/.exec(secretOf(provider) ?? '') ?? []
  return accessKey === undefined || secretKey === undefined ? undefined : { accessKey, secretKey }
}

function keysProblem({ secret }: Provider): string {
  if (secret.from === 'lost') return 'its stored keys cannot be read; enter them again'
  return secret.from === 'environment_pair'
    ? `the environment variables ${secret.variables.join(' and ')} are not both set`
    : 'api_key is not an access key and a secret key'
}

/** The access key, which names the issuer of a token, and the secret key, which signs it. */
export type KlingKeys = { readonly accessKey: string; readonly secretKey: string }

/** The lifetime in the API's documentation. */
export const TOKEN_TTL_S = 1800
/** A token is replaced this long before it expires, so that it does not expire during a request. */
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
  /** A token of these keys that is valid for at least some more minutes. */
  tokenFor(keys: KlingKeys): string
  /** The provider refused the token, for example because a clock was set. Signs a new token for the next request. */
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
      // Wall clocks can step, so the monotonic clock measures the age of a token.
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
