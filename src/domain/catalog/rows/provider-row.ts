import {
  CONNECT_TIMEOUT_MS,
  maxTokensFields,
  omittableFields,
  providerKinds,
  routesOf,
  sendLinksWords,
  type Provider,
  type ProviderKind,
  type ProviderSettings,
  type TextRoute,
} from '../provider.ts'
import { checkOneOf, checkText, flag, list, number, oneOf, requiredOneOf, requiredText } from './fields.ts'
import { readBaseUrl } from './base-url.ts'
import { checked, type Checked } from './problem.ts'
import { readCosts, writeCosts } from './provider-costs.ts'
import { providerFieldsOf } from './provider-fields.ts'
import { readHeaders, readKeyHeader, writeHeaders } from './provider-headers.ts'
import { readRefuseFields, writeRefuseFields } from './refuse-fields.ts'
import { readSecret, writeSecret } from './provider-secret.ts'
import { readTextTimeouts, writeTextTimeouts } from './text-timeouts.ts'
import { definedOnly, openRow, refuseUnknownFields, type Place, type Row } from './row.ts'

const BETAS_MAX = 64
/** A server that needs longer to connect is down, and waiting for it only delays the failover. */
export const connectTimeoutS = { min: 0.1, max: 60, whole: false }

export const providerId = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  remedy: 'write a name of at most 64 letters, digits, "-", "_" and "."',
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
    ...writeCosts(provider),
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
  const costs = readCosts(row)
  const routes = readRoutes(row, kind)
  const betas = readBetas(row)
  const maxTokensField = oneOf(row, 'max_tokens_field', maxTokensFields) ?? maxTokensFields[0]
  const omitFields = readOmitFields(row)
  const connectTimeout = number(row, 'connect_timeout_s', connectTimeoutS) ?? CONNECT_TIMEOUT_MS / 1000
  const timeouts = readTextTimeouts(row)
  const switches = readTextSwitches(row)
  const reusesConnections = flag(row, 'reuse_connections') ?? true
  const sendLinks = oneOf(row, 'send_links', sendLinksWords)
  const secret = readSecret(row, kind, { isStored })
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
    ...switches,
    ...costs,
    ...definedOnly({ baseUrl, apiKeyHeader, betas, omitFields, sendLinks }),
  }
}

function readBetas(row: Row): Provider['betas'] {
  const rule = { max: BETAS_MAX, remedy: 'write the betas that may be used, or leave it out for all' }
  return list(row, 'betas', rule, (beta, at) => checkText(beta, betaName, at))
}

function readOmitFields(row: Row): Provider['omitFields'] {
  const rule = {
    max: omittableFields.length,
    remedy: `write a list of ${omittableFields.join(', ')}, or leave it out`,
  }
  return list(row, 'omit_fields', rule, (field, at) => checkOneOf(field, omittableFields, at))
}

type TextSwitches = Pick<Provider, 'retries' | 'streamUsage' | 'finishAborted' | 'passRateLimits'>

/** What differs from the default. */
function readTextSwitches(row: Row): TextSwitches {
  const retries = number(row, 'retries', { min: 0, max: 1, whole: true })
  return definedOnly({
    retries: retries === 0 ? retries : undefined,
    streamUsage: oneOf(row, 'stream_usage', ['ask']),
    finishAborted: flag(row, 'finish_aborted') === true || undefined,
    passRateLimits: flag(row, 'pass_rate_limits') === false ? false : undefined,
  })
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
