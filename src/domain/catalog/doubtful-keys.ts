import type { Catalog } from './catalog.ts'
import type { Provider, ProviderKind } from './provider.ts'

/**
 * One sentence for each provider whose key is probably a mistake: a literal that looks like the name of an environment
 * variable, or no key where the API needs one. Such a row is valid, because a key may have any form and a proxy may add
 * it. Every request to the provider fails, and only its own error would say why.
 */
export function doubtfulKeys(catalog: Catalog): readonly string[] {
  return [...catalog.providers.values()].flatMap(provider => {
    const doubt = doubtOf(provider)
    return doubt === undefined ? [] : [`Provider "${provider.id}": ${doubt}`]
  })
}

/** Upper case with an underscore, as variables of keys are named: `DEEPSEEK_API_KEY`. Keys of providers are not. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/
/** Long random keys in upper case should not be taken for a name. */
const NAME_LENGTH_MAX = 64

function doubtOf({ secret, kind, headers, baseUrl }: Provider): string | undefined {
  if (secret.from === 'literal') {
    const isName = secret.value.length <= NAME_LENGTH_MAX && VARIABLE_NAME.test(secret.value)
    return isName
      ? `its api_key looks like the name of an environment variable and is sent as the key itself. If it is a name, write env: before it.`
      : undefined
  }
  if (secret.from !== 'none' || mayBeKeyless(kind, baseUrl) || hasKeyHeader(headers)) return undefined
  return `it has no api_key, and the kind ${kind} needs one. Write api_key: env:NAME.`
}

/** Kinds that servers of the operator speak too. A base URL without TLS is a server in the operator's own network. */
function mayBeKeyless(kind: ProviderKind, baseUrl = ''): boolean {
  const isOwn = kind === 'sandbox' || kind === 'openai-compatible' || kind === 'openai-images'
  return isOwn || baseUrl.startsWith('http:')
}

function hasKeyHeader(headers: Provider['headers']): boolean {
  return Object.keys(headers).some(name => /authorization|key|token/.test(name))
}
