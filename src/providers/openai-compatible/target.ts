import type { Provider, TextRoute } from '../../domain/catalog/provider.ts'
import { httpRequest, type HttpRequest } from '../../http1/client/http-request.ts'

/** The key of a provider as it is sent, or undefined where it has none or its environment variable is not set. */
export type SecretOf = (provider: Provider) => string | undefined

/** Where a provider's requests go and with which headers: all of a request but its body. */
export type Target = Readonly<Record<TextRoute, HttpRequest>>

/** A target, or why a provider cannot be called at all: a sentence for the operator, without its key. */
export type TargetOutcome = Target | { readonly problem: string }

const pathOf: Readonly<Record<TextRoute, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
}

/**
 * Finds the target of a provider. It is made once for each provider value, as the catalog makes a new one with each
 * edit; a problem is looked at again each time.
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
  }
}

function baseOf(provider: Provider, secretOf: SecretOf): Address | { readonly problem: string } {
  const url = URL.parse(provider.baseUrl ?? '')
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return { problem: 'the base URL is not an http or https URL' }
  }
  const secret = secretOf(provider)
  if (provider.secret.from === 'environment' && secret === undefined) {
    return { problem: `the environment variable ${provider.secret.variable} is not set` }
  }
  if (provider.secret.from === 'lost') return { problem: 'its stored key cannot be read; enter it again' }
  try {
    return { url, headers: headersOf(provider, secret) }
  } catch {
    // The error's own message would quote the value, which may be the key.
    return { problem: 'its key or one of its headers cannot be sent in a header' }
  }
}

/** A provider's headers, and the place of one path of its API; or why it cannot be called. */
export type Address = { readonly url: URL; readonly headers: Headers }

/** Where a path of the provider's API is, and what its requests carry. */
export function addressOf(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): Address | { readonly problem: string } {
  const base = baseOf(provider, secretOf)
  if ('problem' in base) return base
  return { url: urlUnder(base.url, path), headers: base.headers }
}

/** The path under the base URL, whose query (an `api-version`, say) stays. */
function urlUnder(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  url.hash = ''
  return url
}

/** The provider's own headers win over ours, except that compression is never asked for. */
function headersOf(provider: Provider, secret: string | undefined): Headers {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'tollgate',
  })
  if (secret !== undefined) headers.set('authorization', `Bearer ${secret}`)
  for (const [name, value] of Object.entries(provider.headers)) headers.set(name, value)
  headers.set('accept-encoding', 'identity')
  return headers
}
