import { nanoUsd, type NanoUsd } from '../../../domain/money.ts'
import type {
  RecordedAttempt,
  RecordedRequest,
  RefusedBy,
} from '../../../gateway/ports/requests/request-records.ts'
import type { CountedRequest } from './request-counts.ts'

/** A column of the table, with its type in SQLite and its value for a record. */
type Column = {
  readonly type: 'TEXT' | 'INTEGER' | 'TEXT NOT NULL' | 'INTEGER NOT NULL'
  readonly value: (record: RecordedRequest) => string | number | null
}

const US_PER_MS = 1000

/**
 * The columns in the order of the table, without the row's own number. An amount is a text until it is bound, because
 * SQLite's batches go to a worker as JSON, which has no bigints.
 */
const columns = {
  id: { type: 'TEXT NOT NULL', value: ({ id }) => id },
  at_ms: { type: 'INTEGER NOT NULL', value: ({ atMs }) => atMs },
  account_id: { type: 'TEXT NOT NULL', value: ({ accountId }) => accountId },
  api_key_id: { type: 'TEXT NOT NULL', value: ({ apiKeyId }) => apiKeyId },
  project_id: { type: 'TEXT', value: ({ projectId }) => projectId ?? null },
  route: { type: 'TEXT NOT NULL', value: ({ route }) => route },
  model: { type: 'TEXT', value: ({ model }) => model ?? null },
  status: { type: 'INTEGER NOT NULL', value: ({ status }) => status },
  error_code: { type: 'TEXT', value: ({ errorCode }) => errorCode ?? null },
  duration_us: { type: 'INTEGER NOT NULL', value: ({ durationMs }) => Math.round(durationMs * US_PER_MS) },
  first_byte_us: {
    type: 'INTEGER',
    value: ({ firstByteMs }) => (firstByteMs === undefined ? null : Math.round(firstByteMs * US_PER_MS)),
  },
  held: { type: 'INTEGER', value: ({ held }) => amountText(held) },
  required: { type: 'INTEGER', value: ({ required }) => amountText(required) },
  available: { type: 'INTEGER', value: ({ available }) => amountText(available) },
  refused_scope: { type: 'TEXT', value: ({ refusedBy }) => refusedBy?.scope ?? null },
  refused_limit: { type: 'TEXT', value: ({ refusedBy }) => refusedBy?.limit ?? null },
  attempts: { type: 'TEXT NOT NULL', value: ({ attempts }) => JSON.stringify(attempts) },
  cost: { type: 'INTEGER', value: ({ cost }) => amountText(cost) },
  job_id: { type: 'TEXT', value: ({ jobId }) => jobId ?? null },
  is_replay: { type: 'INTEGER NOT NULL', value: ({ isReplay }) => (isReplay ? 1 : 0) },
  replay_of: { type: 'TEXT', value: ({ replayOf }) => replayOf ?? null },
  client_disconnected: {
    type: 'INTEGER NOT NULL',
    value: ({ clientDisconnected }) => (clientDisconnected ? 1 : 0),
  },
  tags: { type: 'TEXT', value: ({ tags }) => (tags === undefined ? null : JSON.stringify(tags)) },
  user_id: { type: 'TEXT', value: ({ userId }) => userId ?? null },
  alike_refusals: { type: 'INTEGER NOT NULL', value: ({ alikeRefusals }) => alikeRefusals },
} as const satisfies Record<string, Column>

type RequestColumns = typeof columns
const columnNames = Object.keys(columns) as (keyof RequestColumns)[]
const valuesOf = Object.values(columns).map(({ value }) => value)

/** The columns in the order of the table, with their types in SQLite. */
export const REQUEST_COLUMNS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(columns).map(([name, { type }]) => [name, type]),
)

/** The values of a row in the order of the table. */
export type RequestValues = readonly (string | number | null)[]

/** A record as it goes to the database. Its names would be half of a batch, and values are bound faster by place. */
export function requestValuesOf(record: RecordedRequest): RequestValues {
  return valuesOf.map(value => value(record))
}

const places = Object.fromEntries(columnNames.map((name, place) => [name, place])) as Record<
  keyof RequestColumns,
  number
>

/** The parts of a record that are counted, from the values of its row. */
export function countedRequestOf(values: RequestValues): CountedRequest {
  const value = <Name extends keyof RequestColumns>(name: Name) =>
    values[places[name]] as ReturnType<RequestColumns[Name]['value']>
  const firstByteUs = value('first_byte_us')
  return {
    atMs: value('at_ms'),
    status: value('status'),
    model: value('model') ?? undefined,
    accountId: value('account_id'),
    errorCode: value('error_code') ?? undefined,
    durationMs: value('duration_us') / US_PER_MS,
    ...(firstByteUs !== null && { firstByteMs: firstByteUs / US_PER_MS }),
    attempts: JSON.parse(value('attempts')) as readonly RecordedAttempt[],
  }
}

function amountText(amount: NanoUsd | undefined): string | null {
  return amount === undefined ? null : amount.toString()
}

/** A row as it is read: its integers are bigints. */
export type StoredRequestRow = {
  readonly [Name in keyof RequestColumns]: StoredValues[RequestColumns[Name]['type']]
} & { readonly row_number: bigint }

type StoredValues = {
  readonly TEXT: string | null
  readonly INTEGER: bigint | null
  readonly 'TEXT NOT NULL': string
  readonly 'INTEGER NOT NULL': bigint
}

export function recordedRequestOf(row: StoredRequestRow): RecordedRequest {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    accountId: row.account_id,
    apiKeyId: row.api_key_id,
    ...(row.project_id !== null && { projectId: row.project_id }),
    route: row.route,
    ...(row.model !== null && { model: row.model }),
    status: Number(row.status),
    ...(row.error_code !== null && { errorCode: row.error_code }),
    durationMs: Number(row.duration_us) / US_PER_MS,
    ...(row.first_byte_us !== null && { firstByteMs: Number(row.first_byte_us) / US_PER_MS }),
    ...(row.held !== null && { held: nanoUsd(row.held) }),
    ...(row.required !== null && { required: nanoUsd(row.required) }),
    ...(row.available !== null && { available: nanoUsd(row.available) }),
    ...refusedByOf(row),
    attempts: JSON.parse(row.attempts) as readonly RecordedAttempt[],
    ...(row.cost !== null && { cost: nanoUsd(row.cost) }),
    ...(row.job_id !== null && { jobId: row.job_id }),
    isReplay: row.is_replay === 1n,
    ...(row.replay_of !== null && { replayOf: row.replay_of }),
    clientDisconnected: row.client_disconnected === 1n,
    ...(row.tags !== null && { tags: JSON.parse(row.tags) as Record<string, string> }),
    ...(row.user_id !== null && { userId: row.user_id }),
    alikeRefusals: Number(row.alike_refusals),
  }
}

/** The two columns are written together. */
function refusedByOf({
  refused_scope: scope,
  refused_limit: limit,
}: StoredRequestRow): Pick<RecordedRequest, 'refusedBy'> {
  return scope === null || limit === null ? {} : { refusedBy: { scope, limit } as RefusedBy }
}
