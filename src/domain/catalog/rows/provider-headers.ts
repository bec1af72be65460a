import { headerVariable, mediaKindRules, type Provider, type ProviderKind } from '../provider.ts'
import { checkText, text } from './fields.ts'
import { report } from './problem.ts'
import { OWN_VARIABLE_PROBLEM, ownVariable, shellVariable, variableName } from './provider-secret.ts'
import { fieldOf, openRow, placeOf, reportField, type Place, type Row } from './row.ts'

const HEADERS_MAX = 32

export const headerName = {
  pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/,
  remedy: 'write the name of an HTTP header',
}
const headerValue = {
  pattern: /^[\x20-\x7e]{0,4096}$/,
  remedy: 'write plain ASCII text of at most 4096 characters, in quotes',
}

/** The gateway writes these headers itself. A second one could contradict it. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
])
/** They concern one connection, and the gateway makes its own connections. Earlier versions accepted them in rows. */
const hopByHopHeaders = new Set([
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
])

/** They have their own meaning, so they cannot carry a key. Earlier versions accepted them in rows. */
const keylessHeaders = new Set(['accept', 'user-agent', 'anthropic-version', 'set-cookie'])
/** Well-known headers for keys. Exports show the value of a header unless it comes from a variable. */
const secretHeaders = new Set(['api-key', 'x-api-key', 'x-goog-api-key', 'cookie'])

/** For a provider of kind `anthropic`, the gateway also writes this one. */
const BETA_HEADER = 'anthropic-beta'
const ANTHROPIC_KEY_HEADER = 'x-api-key'
const AUTHORIZATION = 'authorization'

/** The `api_key_header` of a row, in lower case. Undefined if it is the header of the kind. */
export function readKeyHeader(
  row: Row,
  { kind, isStored }: Pick<HeaderRules, 'kind' | 'isStored'>,
): string | undefined {
  const name = text(row, 'api_key_header', headerName)?.toLowerCase()
  if (name === undefined || name === keyHeaderOf(kind)) return undefined
  const isOwn = ownHeaders.has(name) || hopByHopHeaders.has(name) || name === BETA_HEADER
  const isKeyless = !isStored && keylessHeaders.has(name)
  if (!isOwn && !isKeyless) return name
  const remedy = 'write the header in which the provider expects its key, such as api-key'
  const reason = isOwn ? 'which is set by the gateway' : 'which cannot have a key'
  reportField(row, 'api_key_header', { message: `is ${name}, ${reason}`, remedy })
  return undefined
}

type HeaderRules = {
  readonly kind: ProviderKind
  /** As `readKeyHeader` returns it. */
  readonly apiKeyHeader: string | undefined
  readonly isStored: boolean
}

/** The `headers` of a row, by their names in lower case. A value may be `env:NAME`. */
export function readHeaders(row: Row, rules: HeaderRules): Record<string, string> {
  const value = fieldOf(row, 'headers')
  if (value === undefined) return {}
  const headers = openRow(value, placeOf(row, 'headers'), 'write header names and values, or leave it out')
  if (headers === undefined) return {}
  const names = Object.keys(headers.values)
  if (names.length > HEADERS_MAX) {
    const message = `has ${names.length} headers`
    reportField(row, 'headers', { message, remedy: `write at most ${HEADERS_MAX}` })
    return {}
  }
  const read = new Map<string, string>()
  for (const name of names) {
    const place = placeOf(headers, name)
    const key = checkText(name, headerName, place)?.toLowerCase()
    if (key === undefined) continue
    const isKey = isKeyHeader(key, rules)
    if (isKey) {
      report(place.problems, { ...place, message: 'is set by the gateway', remedy: 'put the key in api_key' })
    } else if (isOwnHeader(key, rules)) {
      report(place.problems, { ...place, message: 'is set by the gateway', remedy: 'leave it out' })
    } else if (read.has(key)) {
      report(place.problems, { ...place, message: 'is listed twice', remedy: 'list it once' })
    }
    const found = readValue(headers.values[name], place, {
      isStored: rules.isStored,
      isSecret: !isKey && secretHeaders.has(key),
    })
    if (found !== undefined) read.set(key, found)
  }
  return Object.fromEntries(read)
}

/**
 * The messages never repeat a value with a variable: a wrong one may be almost a secret. Stored rows may be older than
 * these checks.
 */
function readValue(
  value: unknown,
  place: Place,
  { isStored, isSecret }: { readonly isStored: boolean; readonly isSecret: boolean },
): string | undefined {
  const found = checkText(value, headerValue, place)
  if (found === undefined || isStored) return found
  const variable = headerVariable(found)
  const remedy = 'write env: and a name of letters, digits and "_", such as env:MAIN_TEAM'
  if (variable !== undefined && !variableName.test(variable)) {
    report(place.problems, { ...place, message: 'does not name an environment variable', remedy })
  } else if (variable !== undefined && ownVariable.test(variable)) {
    report(place.problems, { ...place, ...OWN_VARIABLE_PROBLEM })
  } else if (shellVariable.test(found)) {
    const message = 'is written as a shell variable, and those are not expanded'
    report(place.problems, { ...place, message, remedy })
  } else if (variable === undefined && isSecret) {
    report(place.problems, { ...place, message: 'is a key, which exports would show', remedy })
  }
  return found
}

function isOwnHeader(name: string, { kind, isStored }: HeaderRules): boolean {
  if (ownHeaders.has(name)) return true
  if (kind === 'anthropic' && name === BETA_HEADER) return true
  return !isStored && hopByHopHeaders.has(name)
}

/** A second header with a key could contradict the first, or store a secret unencrypted. */
function isKeyHeader(name: string, { kind, apiKeyHeader }: HeaderRules): boolean {
  return name === AUTHORIZATION || name === keyHeaderOf(kind) || name === apiKeyHeader
}

function keyHeaderOf(kind: ProviderKind): string {
  return (kind === 'anthropic' ? ANTHROPIC_KEY_HEADER : mediaKindRules(kind)?.keyHeader) ?? AUTHORIZATION
}

/** Sorted, so that the same headers in another order are the same row. */
export function writeHeaders(headers: Provider['headers']): Record<string, string> | undefined {
  const named = Object.entries(headers).sort(([left], [right]) => (left < right ? -1 : 1))
  return named.length === 0 ? undefined : Object.fromEntries(named)
}
