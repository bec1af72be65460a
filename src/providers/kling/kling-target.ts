import type { Provider } from '../../domain/catalog/provider.ts'
import { extraHeaders, type SecretOf } from '../http/address.ts'
import type { KlingKeys, KlingTokens } from './kling-token.ts'

export type KlingTarget = { readonly url: URL; readonly headers: Headers; readonly keys: KlingKeys }

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
