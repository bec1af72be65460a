import { mediaKindRules, routesOf, type ProviderKind } from '../provider.ts'
import { quote, describe, fieldOf, reportField, reportMissing, type Row } from './row.ts'

/** The ends of addresses that providers document for one route. The gateway appends the path of the route itself. */
const ROUTE =
  /(?:\/v1\/videos(?:\/(?:text|image)2video)?|\/chat\/completions|\/(?:completions|responses|embeddings|messages|moderations)|\/images\/(?:generations|edits)|\/models\/[^/]+:predictLongRunning|\/v[12]\/(?:query\/)?video_generation|\/contents\/generations\/tasks)$/

/**
 * The `base_url` of a provider's row, without trailing slashes of its path. The URL of a text provider may have a
 * query, such as `?api-version=…`, which is sent with every request. Undefined for the sandbox, and if a problem was
 * reported. Kinds with one well-known API have a default. A stored URL may end in a route, because earlier versions
 * accepted it.
 */
export function readBaseUrl(
  row: Row,
  { kind, isStored }: { readonly kind: ProviderKind; readonly isStored: boolean },
): string | undefined {
  const remedy = 'write an http or https URL such as https://api.example.com/v1'
  const value = fieldOf(row, 'base_url')
  if (kind === 'sandbox') return undefined
  const usual = mediaKindRules(kind)?.baseUrl
  if (value === undefined && usual !== undefined) return usual
  if (value === undefined) {
    reportMissing(row, 'base_url', remedy)
    return undefined
  }
  const url = typeof value === 'string' && value.trim() === value ? URL.parse(value) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    reportField(row, 'base_url', { message: url === null ? 'is not a URL' : describe(value), remedy })
    return undefined
  }
  if (url.username !== '' || url.password !== '') {
    // The value is not quoted, because it contains a secret.
    const problem = { message: 'contains credentials', remedy: 'put the key in api_key' }
    reportField(row, 'base_url', problem)
    return undefined
  }
  if (!isQueryAllowed(row, url, { kind, isStored })) return undefined
  const address = url.origin + url.pathname.replace(/\/+$/, '')
  const base = address.replace(ROUTE, '')
  if (base === address || isStored) return address + url.search
  const message = `ends in the route ${quote(address.slice(base.length))}, which the gateway appends`
  reportField(row, 'base_url', { message, remedy: `write ${quote(base + url.search)}` })
  return undefined
}

/** Parameters that carry keys. An export would show them. Earlier versions accepted some of them in rows. */
const KEY_PARAMETER =
  /^(?:x-)?(?:(?:api|access|secret|subscription)[-_]?key|key|token|access[-_]token|auth|password|(?:client[-_]?)?secret|sig|signature|code)$/i

/** Reports a fragment, a query of a kind that has none, and a key in the query. */
function isQueryAllowed(
  row: Row,
  url: URL,
  { kind, isStored }: { readonly kind: ProviderKind; readonly isStored: boolean },
): boolean {
  const hasRoutes = routesOf(kind).length > 0
  if (url.href.includes('#') || (!hasRoutes && url.href.includes('?'))) {
    reportField(row, 'base_url', {
      message: hasRoutes ? 'has a fragment' : 'has a query or a fragment',
      remedy: 'end the URL with its path, such as /v1',
    })
    return false
  }
  if (!isStored && url.searchParams.keys().some(name => KEY_PARAMETER.test(name))) {
    // The value is not quoted, because it contains a secret.
    reportField(row, 'base_url', { message: 'has a key in its query', remedy: 'put the key in api_key' })
    return false
  }
  return true
}
