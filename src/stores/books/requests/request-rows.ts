import { nanoUsd, type NanoUsd } from '../../../domain/money.ts'
import type { RecordedAttempt, RecordedRequest, RefusedBy } from '../../../gateway/ports/request-records.ts'
import type { CountedRequest } from './request-counts.ts'

/**
 * A record as the columns of its row, without the row's own number. An amount is a text until it is bound, because
 * SQLite's batches go to a worker as JSON, which has no bigints.
 */
export type RequestRow = {
  readonly id: string
  readonly at_ms: number
  readonly account_id: string
  readonly api_key_id: string
  readonly project_id: string | null
  readonly route: string
  readonly model: string | null
  readonly status: number
  readonly error_code: string | null
  readonly duration_us: number
  readonly first_byte_us: number | null
  readonly held: string | null
  readonly required: string | null
  readonly available: string | null
  readonly refused_scope: string | null
  readonly refused_limit: string | null
  readonly attempts: string
  readonly cost: string | null
  readonly job_id: string | null
  readonly is_replay: 0 | 1
  readonly replay_of: string | null
  readonly client_disconnected: 0 | 1
  readonly tags: string | null
  readonly user_id: string | null
  readonly alike_refusals: number
}

/** The columns in the order of the table, with their types in SQLite. */
export const REQUEST_COLUMNS = {
  id: 'TEXT NOT NULL',
  at_ms: 'INTEGER NOT NULL',
  account_id: 'TEXT NOT NULL',
  api_key_id: 'TEXT NOT NULL',
  project_id: 'TEXT',
  route: 'TEXT NOT NULL',
  model: 'TEXT',
  status: 'INTEGER NOT NULL',
  error_code: 'TEXT',
  duration_us: 'INTEGER NOT NULL',
  first_byte_us: 'INTEGER',
  held: 'INTEGER',
  required: 'INTEGER',
  available: 'INTEGER',
  refused_scope: 'TEXT',
  refused_limit: 'TEXT',
  attempts: 'TEXT NOT NULL',
  cost: 'INTEGER',
  job_id: 'TEXT',
  is_replay: 'INTEGER NOT NULL',
  replay_of: 'TEXT',
  client_disconnected: 'INTEGER NOT NULL',
  tags: 'TEXT',
  user_id: 'TEXT',
  alike_refusals: 'INTEGER NOT NULL',
} as const satisfies Record<keyof RequestRow, string>

const columnNames = Object.keys(REQUEST_COLUMNS) as (keyof RequestRow)[]

/** The values of a row in the order of the table. */
export type RequestValues = readonly (string | number | null)[]

/** A record as it goes to the database. Its names would be half of a batch, and values are bound faster by place. */
export function requestValuesOf(record: RecordedRequest): RequestValues {
  const row = requestRowOf(record)
  return columnNames.map(name => row[name])
}

const places = Object.fromEntries(columnNames.map((name, place) => [name, place])) as Record<
  keyof RequestRow,
  number
>

/** The parts of a record that are counted, from the values of its row. */
export function countedRequestOf(values: RequestValues): CountedRequest {
  const value = <Column extends keyof RequestRow>(column: Column) =>
    values[places[column]] as RequestRow[Column]
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

const US_PER_MS = 1000

function requestRowOf(record: RecordedRequest): RequestRow {
  const { firstByteMs, tags } = record
  return {
    id: record.id,
    at_ms: record.atMs,
    account_id: record.accountId,
    api_key_id: record.apiKeyId,
    project_id: record.projectId ?? null,
    route: record.route,
    model: record.model ?? null,
    status: record.status,
    error_code: record.errorCode ?? null,
    duration_us: Math.round(record.durationMs * US_PER_MS),
    first_byte_us: firstByteMs === undefined ? null : Math.round(firstByteMs * US_PER_MS),
    held: amountText(record.held),
    required: amountText(record.required),
    available: amountText(record.available),
    refused_scope: record.refusedBy?.scope ?? null,
    refused_limit: record.refusedBy?.limit ?? null,
    attempts: JSON.stringify(record.attempts),
    cost: amountText(record.cost),
    job_id: record.jobId ?? null,
    is_replay: record.isReplay ? 1 : 0,
    replay_of: record.replayOf ?? null,
    client_disconnected: record.clientDisconnected ? 1 : 0,
    tags: tags === undefined ? null : JSON.stringify(tags),
    user_id: record.userId ?? null,
    alike_refusals: record.alikeRefusals,
  }
}

function amountText(amount: NanoUsd | undefined): string | null {
  return amount === undefined ? null : amount.toString()
}

/** A row as it is read: its integers are bigints. */
export type StoredRequestRow = {
  readonly [Column in keyof RequestRow]: Column extends AmountColumn
    ? bigint | null
    : RequestRow[Column] extends number
      ? bigint
      : RequestRow[Column] extends number | null
        ? bigint | null
        : RequestRow[Column]
} & { readonly row_number: bigint }

type AmountColumn = 'held' | 'required' | 'available' | 'cost'

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
