import {
  CONNECT_TIMEOUT_MS,
  maxTokensFields,
  omittableFields,
  mediaKindRules,
  providerKinds,
  routesOf,
  type MediaKind,
  type Provider,
  type ProviderKind,
  type ProviderSettings,
  type TextRoute,
} from '../provider.ts'
import {
  checkOneOf,
  checkText,
  flag,
  list,
  number,
  oneOf,
  requiredOneOf,
  requiredText,
  text,
} from './fields.ts'
import { readBaseUrl } from './base-url.ts'
import { checked, report, type Checked } from './problem.ts'
import { readSecret, writeSecret } from './provider-secret.ts'
import { readTextTimeouts, textTimeoutFields, writeTextTimeouts } from './text-timeouts.ts'
import {
  definedOnly,
  fieldOf,
  openRow,
  placeOf,
  refuseUnknownFields,
  reportField,
  type Place,
  type Row,
} from './row.ts'

const HEADERS_MAX = 32
const BETAS_MAX = 64
/** A server that needs longer to connect is down, and waiting for it only delays the failover. */
export const connectTimeoutS = { min: 0.1, max: 60, whole: false }

const mediaFields = [
  'id',
  'kind',
  'base_url',
  'api_key',
  'headers',
  'connect_timeout_s',
  'reuse_connections',
] as const

const textFields = {
  sandbox: ['id', 'kind', 'routes'],
  'openai-compatible': [
    'id',
    'kind',
    'base_url',
    'api_key',
    'headers',
    'routes',
    'max_tokens_field',
    'omit_fields',
    'cost_header',
    'connect_timeout_s',
    ...textTimeoutFields,
    'retries',
    'stream_usage',
    'reuse_connections',
  ],
  anthropic: [
    'id',
    'kind',
    'base_url',
    'api_key',
    'headers',
    'routes',
    'betas',
    'connect_timeout_s',
    ...textTimeoutFields,
    'retries',
    'reuse_connections',
  ],
} as const satisfies Readonly<Record<Exclude<ProviderKind, MediaKind>, readonly string[]>>

/** The fields that the rows of a kind of provider can have. */
export function providerFieldsOf(kind: ProviderKind): readonly string[] {
  return kind in textFields ? textFields[kind as keyof typeof textFields] : mediaFields
}

export const providerId = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  remedy: 'write a name of at most 64 letters, digits, "-", "_" and "."',
}
export const headerName = {
  pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/,
  remedy: 'write the name of an HTTP header',
}
const headerValue = {
  pattern: /^[\x20-\x7e]{0,4096}$/,
  remedy: 'write plain ASCII text of at most 4096 characters, in quotes',
}

const betaName = {
  pattern: /^[\x21-\x2b\x2d-\x7e]{1,128}$/,
  remedy: 'write the name of a beta, such as files-api-2025-04-14',
}

/** The gateway writes these headers itself. A second one could contradict it, or store a secret unencrypted. */
const ownHeaders = new Set([
  'authorization',
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

/** For a provider of kind `anthropic`, the gateway also writes these. */
const anthropicHeaders = new Set(['x-api-key', 'anthropic-beta'])
const ANTHROPIC_KEY_HEADER = 'x-api-key'

/** Checks a provider in the format of the catalog file and the admin API. */
export function decodeProvider(value: unknown): Checked<ProviderSettings> {
  return checked(problems => readProvider(value, { path: [], problems }))
}

/** Like `decodeProvider`, for a row of the store. Accepts rows that an earlier version accepted. */
export function decodeStoredProvider(value: unknown): Checked<ProviderSettings> {
  return checked(problems => readRow(value, { path: [], problems }, { isStored: true }))
}

/** The row of a provider. Omits defaults, and every secret except the name of an environment variable. */
export function encodeProvider(provider: Provider | ProviderSettings): Record<string, unknown> {
  return definedOnly({
    id: provider.id,
    kind: provider.kind,
    base_url: provider.baseUrl,
    api_key: writeSecret(provider.secret),
    headers: writeHeaders(provider.headers),
    routes: writeRoutes(provider),
    betas: provider.betas,
    max_tokens_field: unless(maxTokensFields[0], provider.maxTokensField),
    omit_fields: provider.omitFields,
    cost_header: provider.costHeader,
    connect_timeout_s: unless(CONNECT_TIMEOUT_MS / 1000, provider.connectTimeoutMs / 1000),
    ...writeTextTimeouts(provider),
    retries: provider.retries,
    stream_usage: provider.streamUsage,
    reuse_connections: unless(true, provider.reusesConnections),
  })
}

/** Like `decodeProvider`, for a row inside a larger value. */
export function readProvider(value: unknown, place: Place): ProviderSettings | undefined {
  return readRow(value, place, { isStored: false })
}

function readRow(
  value: unknown,
  place: Place,
  { isStored }: { readonly isStored: boolean },
): ProviderSettings | undefined {
  const row = openRow(value, place, 'write a provider: its id, kind and, unless it is the sandbox, base_url')
  if (row === undefined) return undefined
  const id = requiredText(row, 'id', providerId)
  const kind = requiredOneOf(row, 'kind', providerKinds)
  if (kind === undefined) return undefined
  refuseUnknownFields(row, `a provider of kind ${kind}`, providerFieldsOf(kind))
  const baseUrl = readBaseUrl(row, { kind, isStored })
  const headers = readHeaders(row, kind)
  const costHeader = text(row, 'cost_header', headerName)?.toLowerCase()
  const routes = readRoutes(row, kind)
  const betas = list(
    row,
    'betas',
    { max: BETAS_MAX, remedy: 'write the betas that may be used, or leave it out for all' },
    (beta, at) => checkText(beta, betaName, at),
  )
  const maxTokensField = oneOf(row, 'max_tokens_field', maxTokensFields) ?? maxTokensFields[0]
  const omitFields = list(
    row,
    'omit_fields',
    { max: omittableFields.length, remedy: `write a list of ${omittableFields.join(', ')}, or leave it out` },
    (field, at) => checkOneOf(field, omittableFields, at),
  )
  const connectTimeout = number(row, 'connect_timeout_s', connectTimeoutS) ?? CONNECT_TIMEOUT_MS / 1000
  const timeouts = readTextTimeouts(row)
  const retries = number(row, 'retries', { min: 0, max: 1, whole: true })
  const streamUsage = oneOf(row, 'stream_usage', ['ask'])
  const reusesConnections = flag(row, 'reuse_connections') ?? true
  const secret = readSecret(row, kind)
  if (id === undefined) return undefined
  return {
    id,
    kind,
    secret,
    headers,
    routes,
    maxTokensField,
    connectTimeoutMs: Math.round(connectTimeout * 1000),
    reusesConnections,
    ...timeouts,
    ...(retries === 0 ? { retries } : {}),
    ...definedOnly({ baseUrl, costHeader, streamUsage, betas, omitFields }),
  }
}

/** Those of the kind that the row lists, in their usual order; all of them if it lists none. */
function readRoutes(row: Row, kind: ProviderKind): readonly TextRoute[] {
  const offered = routesOf(kind)
  if (offered.length === 0) return offered
  const rule = {
    max: offered.length,
    remedy: `write a list of ${offered.join(', ')}, or leave it out for all`,
  }
  const listed = list(row, 'routes', rule, (route, at) => checkOneOf(route, offered, at))
  return offered.filter(route => listed?.includes(route) ?? true)
}

/** Omits the default value of a field. */
function unless<Value>(defaultValue: Value, value: Value): Value | undefined {
  return value === defaultValue ? undefined : value
}

function writeRoutes({ kind, routes }: Pick<Provider, 'kind' | 'routes'>): readonly TextRoute[] | undefined {
  return routes.length < routesOf(kind).length ? routes : undefined
}

function readHeaders(row: Row, kind: ProviderKind): Record<string, string> {
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
    if (isOwnHeader(key, kind)) {
      const remedy = isKeyHeader(key, kind) ? 'put the key in api_key' : 'leave it out'
      report(place.problems, { ...place, message: 'is set by the gateway', remedy })
    } else if (read.has(key)) {
      report(place.problems, { ...place, message: 'is listed twice', remedy: 'list it once' })
    }
    const found = checkText(headers.values[name], headerValue, place)
    if (found !== undefined) read.set(key, found)
  }
  return Object.fromEntries(read)
}

function isOwnHeader(name: string, kind: ProviderKind): boolean {
  return (
    ownHeaders.has(name) || (kind === 'anthropic' && anthropicHeaders.has(name)) || isKeyHeader(name, kind)
  )
}

function isKeyHeader(name: string, kind: ProviderKind): boolean {
  const own = kind === 'anthropic' ? ANTHROPIC_KEY_HEADER : mediaKindRules(kind)?.keyHeader
  return name === 'authorization' || name === own
}

/** Sorted, so that the same headers in another order are the same row. */
function writeHeaders(headers: Provider['headers']): Record<string, string> | undefined {
  const named = Object.entries(headers).sort(([left], [right]) => (left < right ? -1 : 1))
  return named.length === 0 ? undefined : Object.fromEntries(named)
}
