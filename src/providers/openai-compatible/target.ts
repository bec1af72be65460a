import type { Provider, TextRoute } from '../../domain/catalog/provider.ts'
import { httpRequest, type HttpRequest } from '../../http1/client/http-request.ts'
import { extraHeaders, type SecretOf } from '../extra-headers.ts'

export type { SecretOf }

/** The requests to a provider without their bodies. */
export type Target = Readonly<Record<TextRoute, HttpRequest>>

/** A target, or why the provider cannot be called: a sentence for the operator, without the key. */
export type TargetOutcome = Target | { readonly problem: string }

const AUTHORIZATION = 'authorization'

const pathOf: Readonly<Record<TextRoute, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  messages: '/messages',
}

/**
 * Finds the target of a provider. A target is made once for each provider value, because the catalog makes a new value
 * with each edit. A problem is checked again each time.
 */
export function targets(secretOf: SecretOf): (provider: Provider) => TargetOutcome {
  const known = new WeakMap<Provider, Target>()
  return provider => {
    const found = known.get(provider)
    if (found !== undefined) return found
    const made = makeTarget(provider, secretOf)
    if (!('problem' in made)) known.set(provider, made)
    return made
  }
}

function makeTarget(provider: Provider, secretOf: SecretOf): TargetOutcome {
  const base = baseOf(provider, secretOf)
  if ('problem' in base) return base
  const request = (path: string) =>
    httpRequest({
      method: 'POST',
      url: urlUnder(base.url, path),
      headers: base.headers,
      reuseConnection: provider.reusesConnections,
    })
  return {
    chat: request(pathOf.chat),
    responses: request(pathOf.responses),
    embeddings: request(pathOf.embeddings),
    messages: request(pathOf.messages),
  }
}

function baseOf(
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

/** The URL of one path of a provider's API, and the headers of requests to it. */
export type Address = { readonly url: URL; readonly headers: Headers }

/** The headers of a kind of provider, with its key if it has one. */
export type OwnHeaders = (
  secret: string | undefined,
  provider: Pick<Provider, 'apiKeyHeader'>,
) => Readonly<Record<string, string>>

const bearerHeaders: OwnHeaders = (secret, { apiKeyHeader = AUTHORIZATION }) =>
  secret === undefined ? {} : keyHeader(apiKeyHeader, secret)

/** The header with a key. */
export function keyHeader(name: string, secret: string): Readonly<Record<string, string>> {
  return { [name]: name === AUTHORIZATION ? `Bearer ${secret}` : secret }
}

/** The address of a path of the provider's API, or why the provider cannot be called. */
export function addressOf(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
  ownHeaders: OwnHeaders = bearerHeaders,
): Address | { readonly problem: string } {
  const base = baseOf(provider, secretOf, ownHeaders)
  if ('problem' in base) return base
  return { url: urlUnder(base.url, path), headers: base.headers }
}

/** Appends the path to the base URL. The query of the base URL, such as an `api-version`, stays. */
function urlUnder(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  url.hash = ''
  return url
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
