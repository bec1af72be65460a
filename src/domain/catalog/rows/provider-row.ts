import {
  CONNECT_TIMEOUT_MS,
  costUnits,
  maxTokensFields,
  mediaKindRules,
  omittableFields,
  providerKinds,
  routesOf,
  sendLinksWords,
  type CostUnit,
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
import { formatUsd } from '../../money.ts'
import { readPrice } from './pricing-row.ts'
import { readBaseUrl } from './base-url.ts'
import { checked, type Checked } from './problem.ts'
import { headerName, readHeaders, readKeyHeader, writeHeaders } from './provider-headers.ts'
import { readRefuseFields, writeRefuseFields } from './refuse-fields.ts'
import { readSecret, writeSecret } from './provider-secret.ts'
import { readTextTimeouts, textTimeoutFields, writeTextTimeouts } from './text-timeouts.ts'
import {
  definedOnly,
  fieldOf,
  openRow,
  refuseUnknownFields,
  reportField,
  type Place,
  type Row,
} from './row.ts'

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
  'send_links',
] as const

const textFields = {
  sandbox: ['id', 'kind', 'routes'],
  'openai-compatible': [
    'id',
    'kind',
    'base_url',
    'api_key',
    'api_key_header',
    'headers',
    'routes',
    'max_tokens_field',
    'omit_fields',
    'refuse_fields',
    'cost_header',
    'cost_field',
    'cost_unit',
    'usage_style',
    'bills_refused',
    'connect_timeout_s',
    ...textTimeoutFields,
    'retries',
    'stream_usage',
    'finish_aborted',
    'pass_rate_limits',
    'reuse_connections',
  ],
  anthropic: [
    'id',
    'kind',
    'base_url',
    'api_key',
    'api_key_header',
    'headers',
    'routes',
    'betas',
    'refuse_fields',
    'connect_timeout_s',
    ...textTimeoutFields,
    'retries',
    'finish_aborted',
    'pass_rate_limits',
    'reuse_connections',
  ],
} as const satisfies Readonly<Record<Exclude<ProviderKind, MediaKind>, readonly string[]>>

/** The fields that the rows of a kind of provider can have. */
export function providerFieldsOf(kind: ProviderKind): readonly string[] {
  if (kind in textFields) return textFields[kind as keyof typeof textFields]
  return mediaKindRules(kind)?.reportsCredits === true ? [...mediaFields, 'credit_usd'] : mediaFields
}

export const providerId = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  remedy: 'write a name of at most 64 letters, digits, "-", "_" and "."',
}

/** A member of the usage. */
export const costFieldPath = {
  pattern: /^usage(?:\.[A-Za-z0-9_-]{1,64}){1,4}$/,
  remedy: 'write the path of a member of the usage, such as usage.estimated_cost',
}

const betaName = {
  pattern: /^[\x21-\x2b\x2d-\x7e]{1,128}$/,
  remedy: 'write the name of a beta, such as files-api-2025-04-14',
}

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
    api_key_header: provider.apiKeyHeader,
    headers: writeHeaders(provider.headers),
    routes: writeRoutes(provider),
    betas: provider.betas,
    max_tokens_field: unless(maxTokensFields[0], provider.maxTokensField),
    omit_fields: provider.omitFields,
    ...writeRefuseFields(provider),
    cost_header: provider.costHeader,
    cost_field: provider.costField,
    cost_unit: provider.costUnit,
    usage_style: provider.usageStyle,
    bills_refused: provider.billsRefused,
    credit_usd: provider.creditUsd === undefined ? undefined : formatUsd(provider.creditUsd),
    connect_timeout_s: unless(CONNECT_TIMEOUT_MS / 1000, provider.connectTimeoutMs / 1000),
    ...writeTextTimeouts(provider),
    retries: provider.retries,
    stream_usage: provider.streamUsage,
    finish_aborted: provider.finishAborted,
    pass_rate_limits: provider.passRateLimits,
    reuse_connections: unless(true, provider.reusesConnections),
    send_links: provider.sendLinks,
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
  const apiKeyHeader = readKeyHeader(row, { kind, isStored })
  const headers = readHeaders(row, { kind, apiKeyHeader, isStored })
  const reporting = readReporting(row)
  const creditUsd = readPrice(row, 'credit_usd')
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
  const finishAborted = flag(row, 'finish_aborted') === true || undefined
  const passRateLimits = flag(row, 'pass_rate_limits') === false ? false : undefined
  const reusesConnections = flag(row, 'reuse_connections') ?? true
  const sendLinks = oneOf(row, 'send_links', sendLinksWords)
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
    ...readRefuseFields(row),
    ...(retries === 0 ? { retries } : {}),
    ...reporting,
    ...definedOnly({
      baseUrl,
      apiKeyHeader,
      creditUsd,
      streamUsage,
      finishAborted,
      passRateLimits,
      betas,
      omitFields,
      sendLinks,
    }),
  }
}

type Reporting = Pick<Provider, 'costHeader' | 'costField' | 'costUnit' | 'usageStyle' | 'billsRefused'>

/** How the provider reports its usage and its cost, and what it bills. */
function readReporting(row: Row): Reporting {
  return definedOnly({
    costHeader: text(row, 'cost_header', headerName)?.toLowerCase(),
    costField: text(row, 'cost_field', costFieldPath),
    costUnit: readCostUnit(row),
    usageStyle: oneOf(row, 'usage_style', ['gemini']),
    billsRefused: oneOf(row, 'bills_refused', ['content_filter']),
  })
}

/** The `cost_unit` of a row. Undefined for dollars. */
function readCostUnit(row: Row): CostUnit | undefined {
  const unit = oneOf(row, 'cost_unit', Object.keys(costUnits) as CostUnit[])
  const isUsed = fieldOf(row, 'cost_field') !== undefined || fieldOf(row, 'cost_header') !== undefined
  if (unit !== undefined && !isUsed) {
    const remedy = 'add the field or header with the cost, or leave cost_unit out'
    reportField(row, 'cost_unit', { message: 'is only used with cost_field or cost_header', remedy })
  }
  return unit === 'usd' ? undefined : unit
}

/** The routes of the kind that the row lists, in their usual order; all of them if it lists none. */
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
