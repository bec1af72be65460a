/**
 * The tables whose rows commit hashes cover, with the columns that they cover, in the order of the hash. The tag of a
 * table never changes. A column that a later migration adds is null in earlier rows, and is in the form of a row only
 * if it is not null: rows stay verified with the form that they were written in.
 */
export type HashedTableDefinition = {
  readonly tag: number
  readonly name:
    | 'operations'
    | 'charges'
    | 'credits'
    | 'tariffs'
    | 'attempts'
    | 'audit_log'
    | 'accounts'
    | 'api_keys'
    | 'holds'
    | 'jobs'
    | 'job_events'
    | 'corrections'
  /** The column of the row id, if it is not `id`. */
  readonly key?: 'row_id'
  /** Without the row id, which comes first, and `commit_id`, which comes last. */
  readonly columns: readonly string[]
  /** Covered columns that a later migration added, before `commit_id`: all null, or none. */
  readonly added?: readonly string[]
  /** SQL for the first value of a covered column that later steps may change. */
  readonly atCreation?: Readonly<Record<string, string>>
  /** Columns that are written with the row and change later, so that no hash covers them. */
  readonly changing?: readonly string[]
  /** Columns that are null or their default at first and set later, so that no hash covers them. */
  readonly later?: readonly string[]
}

export const operationsTable = {
  tag: 1,
  name: 'operations',
  columns: [
    'account_id',
    'number',
    'previous_id',
    'kind',
    'subject_key',
    'subject_tail',
    'amount',
    'at_ms',
    'book_1',
    'amount_1',
    'balance_after_1',
    'book_2',
    'amount_2',
    'balance_after_2',
    'book_3',
    'amount_3',
    'balance_after_3',
  ],
} as const satisfies HashedTableDefinition

export const chargesTable = {
  tag: 2,
  name: 'charges',
  columns: [
    'id_key',
    'id_tail',
    'account_id',
    'previous_id',
    'operation_id',
    'api_key_id',
    'route',
    'model',
    'provider',
    'input',
    'cached_input',
    'cache_write',
    'audio_input',
    'output',
    'reasoning',
    'audio_output',
    'provenance',
    'is_clamped',
    'images',
    'duration_ms',
    'tariff_id',
    'cost',
    'shortfall',
    'at_ms',
  ],
  added: ['cache_write_1h', 'server_tool_uses'],
} as const satisfies HashedTableDefinition

export const creditsTable = {
  tag: 3,
  name: 'credits',
  columns: [
    'id_key',
    'id_tail',
    'account_id',
    'operation_id',
    'amount',
    'source',
    'note',
    'idempotency_key',
    'available_after',
  ],
} as const satisfies HashedTableDefinition

export const tariffsTable = {
  tag: 4,
  name: 'tariffs',
  columns: ['content'],
} as const satisfies HashedTableDefinition

const WITH_USAGE = "CASE WHEN state = 'abandoned' THEN"

/**
 * An abandoned attempt has its usage from the start and never changes. Any other one began as `timed_out`, without a
 * usage.
 */
export const attemptsTable = {
  tag: 5,
  name: 'attempts',
  columns: [
    'request_key',
    'request_tail',
    'number',
    'account_id',
    'api_key_id',
    'route',
    'model',
    'provider',
    'state',
    'input',
    'cached_input',
    'cache_write',
    'audio_input',
    'output',
    'reasoning',
    'audio_output',
    'tariff_id',
    'at_ms',
  ],
  added: ['cache_write_1h', 'server_tool_uses'],
  atCreation: {
    state: `${WITH_USAGE} 'abandoned' ELSE 'timed_out' END`,
    input: `${WITH_USAGE} input END`,
    cached_input: `${WITH_USAGE} cached_input END`,
    cache_write: `${WITH_USAGE} cache_write END`,
    audio_input: `${WITH_USAGE} audio_input END`,
    output: `${WITH_USAGE} output END`,
    reasoning: `${WITH_USAGE} reasoning END`,
    audio_output: `${WITH_USAGE} audio_output END`,
    cache_write_1h: `${WITH_USAGE} cache_write_1h END`,
    server_tool_uses: `${WITH_USAGE} server_tool_uses END`,
  },
  later: ['cost', 'is_clamped', 'compensated_by'],
} as const satisfies HashedTableDefinition

export const auditTable = {
  tag: 6,
  name: 'audit_log',
  columns: ['actor', 'action', 'subject', 'at_ms', 'detail'],
} as const satisfies HashedTableDefinition

export const accountsTable = {
  tag: 7,
  name: 'accounts',
  columns: ['public_id', 'name', 'sandbox_only', 'created_at_ms'],
  later: ['suspended_at_ms', 'replays_off_at_ms'],
} as const satisfies HashedTableDefinition

export const apiKeysTable = {
  tag: 8,
  name: 'api_keys',
  columns: ['public_id', 'account_id', 'name', 'hash', 'prefix', 'created_at_ms'],
  later: ['revoked_at_ms'],
} as const satisfies HashedTableDefinition

export const holdsTable = {
  tag: 9,
  name: 'holds',
  columns: [
    'id_key',
    'id_tail',
    'account_id',
    'kind',
    'amount',
    'placed_by',
    'placed_at_ms',
    'owner',
    'job_key',
    'job_tail',
  ],
  changing: ['state', 'expires_at_ms'],
  later: ['resolved_by', 'resolved_at_ms'],
} as const satisfies HashedTableDefinition

export const jobsTable = {
  tag: 10,
  name: 'jobs',
  key: 'row_id',
  columns: [
    'id_key',
    'id_tail',
    'kind',
    'account_id',
    'api_key_id',
    'route',
    'model',
    'provider',
    'upstream_model',
    'quote',
    'held',
    'node',
    'created_at_ms',
    'job_deadline_at_ms',
  ],
  changing: ['state', 'request', 'changed_at_ms', 'next_poll_at_ms', 'deadline_at_ms'],
  later: [
    'submitted_at_ms',
    'upstream_id',
    'upstream_status',
    'problem',
    'outputs',
    'duration_ms',
    'cost',
    'failure_reason',
    'failure_code',
    'failure_message',
    'failure_retry_after_s',
    'archived_at_ms',
    'watch_until_ms',
    'loss',
    'loss_at_ms',
    'loss_by',
  ],
} as const satisfies HashedTableDefinition

/** The latest event of a job has its state, so the hash of the event covers the state. */
export const jobEventsTable = {
  tag: 11,
  name: 'job_events',
  key: 'row_id',
  columns: ['job', 'state', 'detail', 'at_ms'],
} as const satisfies HashedTableDefinition

export const correctionsTable = {
  tag: 12,
  name: 'corrections',
  columns: [
    'id_key',
    'id_tail',
    'account_id',
    'operation_id',
    'charge_id',
    'amount',
    'note',
    'idempotency_key',
    'available_after',
  ],
} as const satisfies HashedTableDefinition

/** The tables that commits cover since migration 0010. */
export const ledgerTables: readonly HashedTableDefinition[] = [
  operationsTable,
  chargesTable,
  creditsTable,
  tariffsTable,
]

/** The tables that commits cover since migration 0011. */
export const creationTables: readonly HashedTableDefinition[] = [
  attemptsTable,
  auditTable,
  accountsTable,
  apiKeysTable,
  holdsTable,
  jobsTable,
  jobEventsTable,
]

/** In the order in which a commit covers them. */
export const hashedTables: readonly HashedTableDefinition[] = [
  ...ledgerTables,
  ...creationTables,
  correctionsTable,
]

export function keyOf({ key }: HashedTableDefinition): string {
  return key ?? 'id'
}

/** The covered columns of a hashed table without those that were added later, in the order of the hash. */
export function columnsOf(table: HashedTableDefinition): readonly string[] {
  return [keyOf(table), ...table.columns, 'commit_id']
}

/** All covered columns of a hashed table, in the order of the hash. */
export function allColumnsOf(table: HashedTableDefinition): readonly string[] {
  return [keyOf(table), ...table.columns, ...(table.added ?? []), 'commit_id']
}

/**
 * A query for the covered values of each row: by default all columns, which `formOf` turns into the form of the row.
 */
export function selectCovered(table: HashedTableDefinition, columns = allColumnsOf(table)): string {
  const { name, atCreation = {} } = table
  return `SELECT ${columns.map(column => atCreation[column] ?? column).join(', ')} FROM ${name}`
}

/** The values of a row that its hash covers: without columns that were added later and that the row does not need. */
export function formOf<Value>(
  { columns, added = [] }: HashedTableDefinition,
  values: readonly Value[],
): readonly Value[] {
  if (added.length === 0) return values
  // The row id and the columns come first.
  const start = 1 + columns.length
  const end = start + added.length
  return values.filter((value, index) => value !== null || index < start || index >= end)
}
