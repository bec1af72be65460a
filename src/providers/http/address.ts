import { headerVariable, type Provider } from '../../domain/catalog/provider.ts'

const AUTHORIZATION = 'authorization'

/** The key of a provider as it is sent; undefined if it has none or its environment variable is not set. */
export type SecretOf = (provider: Provider) => string | undefined

/** The URL of one path of a provider's API, and the headers of requests to it. */
export type Address = { readonly url: URL; readonly headers: Headers }

/** The headers of a kind of provider, with its key if it has one. */
export type OwnHeaders = (
  secret: string | undefined,
  provider: Pick<Provider, 'apiKeyHeader'>,
) => Readonly<Record<string, string>>

/** The address of a path of the provider's API, or why the provider cannot be called. */
export function addressOf(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
  ownHeaders: OwnHeaders = bearerHeaders,
): Address | { readonly problem: string } {
  const base = baseAddress(provider, secretOf, ownHeaders)
  if ('problem' in base) return base
  return { url: urlUnder(base.url, path), headers: base.headers }
}

/** The base URL of a provider with the headers of its requests, or why the provider cannot be called. */
export function baseAddress(
  provider: Provider,
  secretOf: SecretOf,
  ownHeaders: OwnHeaders = bearerHeaders,
): Address | { readonly problem: string } {
  const url = URL.parse(provider.baseUrl ?? '')
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return { problem: 'the base URL is not an http or https URL' }
  }
  const secret = secretOf(provider)
  if (provider.secret.from === 'environment' && secret === undefined) {
    return { problem: `the environment variable ${provider.secret.variable} is not set` }
  }
  if (provider.secret.from === 'lost') return { problem: 'its stored key cannot be read; enter it again' }
  const extra = extraHeaders(provider, secretOf)
  if ('problem' in extra) return extra
  try {
    return { url, headers: headersOf(extra.headers, ownHeaders(secret, provider)) }
  } catch {
    // The message of the error quotes the value, which may be the key.
    return { problem: 'its key or one of its headers cannot be sent in a header' }
  }
}

/** Appends the path to the base URL. The query of the base URL, such as an `api-version`, stays. */
export function urlUnder(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  url.hash = ''
  return url
}

const bearerHeaders: OwnHeaders = (secret, { apiKeyHeader = AUTHORIZATION }) =>
  secret === undefined ? {} : keyHeader(apiKeyHeader, secret)

/** The header with a key. */
export function keyHeader(name: string, secret: string): Readonly<Record<string, string>> {
  return { [name]: name === AUTHORIZATION ? `Bearer ${secret}` : secret }
}

/** The headers of the provider's row replace the default ones. Compression is never requested. */
function headersOf(
  extra: Readonly<Record<string, string>>,
  ownHeaders: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'tollgate',
    ...ownHeaders,
  })
  for (const [name, value] of Object.entries(extra)) headers.set(name, value)
  headers.set('accept-encoding', 'identity')
  return headers
}

/**
 * The headers of a provider's row, with the values of environment variables in place of `env:NAME`; or why they cannot
 * be sent: a sentence for the operator.
 */
export function extraHeaders(
  provider: Provider,
  secretOf: SecretOf,
): { readonly headers: Readonly<Record<string, string>> } | { readonly problem: string } {
  const headers: Record<string, string> = {}
  for (const [name, written] of Object.entries(provider.headers)) {
    const variable = headerVariable(written)
    const value =
      variable === undefined ? written : secretOf({ ...provider, secret: { from: 'environment', variable } })
    if (value === undefined)
      return { problem: `the environment variable ${variable} of its header ${name} is not set` }
    headers[name] = value
  }
  return { headers }
}
