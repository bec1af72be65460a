import type { SqlValue } from './canonical.ts'

/** The type of a column. A question mark stands for a column that may be null. */
export type ColumnType = 'integer' | 'integer?' | 'text' | 'text?' | 'blob'

/** Columns in the order of the hash, with their types. */
export type Columns = Readonly<Record<string, ColumnType>>

/**
 * The tables whose rows commit hashes cover, with the columns that they cover, in the order of the hash. The tag of a
 * table never changes, and neither do names, types and order of its columns. A column that a later migration adds is
 * null in earlier rows, and is in the form of a row only if it is not null: rows stay verified with the form that they
 * were written in.
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
    | 'admin_tokens'
    | 'projects'
    | 'api_key_secrets'
    | 'api_key_secret_ends'
  /** The column of the row id, if it is not `id`. */
  readonly key?: 'row_id'
  /** Without the row id, which comes first, and `commit_id`, which comes last. */
  readonly columns: Columns
  /** Covered columns that migration 0016 added, before `commit_id`: all null, or none. */
  readonly added?: Columns
  /**
   * Covered columns that later migrations added. Each one that is not null is in the form of its row as its name and
   * its value, before `commit_id`.
   */
  readonly named?: Columns
  /** SQL for the first value of a covered column that later steps may change. */
  readonly atCreation?: Readonly<Record<string, string>>
  /**
   * Covered columns that later steps may change, with the column of a later migration that has the first value once the
   * column was changed.
   */
  readonly firstIn?: Readonly<Record<string, string>>
  /** Columns that are written with the row and change later, so that no hash covers them. */
  readonly changing?: Columns
  /** Columns that are null or their default at first and set later, so that no hash covers them. */
  readonly later?: readonly string[]
}

type ValueOf<Type extends ColumnType> = {
  integer: number | bigint
  'integer?': number | bigint | null
  text: string
  'text?': string | null
  blob: Uint8Array
}[Type]

type Values<Of extends Columns | undefined> = Of extends Columns
  ? { readonly [name in keyof Of]: ValueOf<Of[name]> }
  : unknown

/**
 * A new row of a hashed table: a value for each column, by its name. Columns that were added later may be left out and
 * are then null.
 */
export type NewRow<Table extends HashedTableDefinition> = Values<Table['columns']> &
  Values<Table['changing']> &
  Partial<Values<Table['added']>> &
  Partial<Values<Table['named']>>

export const operationsTable = {
  tag: 1,
  name: 'operations',
  columns: {
    account_id: 'integer',
    number: 'integer',
    previous_id: 'integer?',
    kind: 'text',
    subject_key: 'integer',
    subject_tail: 'integer',
    amount: 'integer',
    at_ms: 'integer',
    book_1: 'text',
    amount_1: 'integer',
    balance_after_1: 'integer',
    book_2: 'text',
    amount_2: 'integer',
    balance_after_2: 'integer',
    book_3: 'text?',
    amount_3: 'integer?',
    balance_after_3: 'integer?',
  },
} as const satisfies HashedTableDefinition

export const chargesTable = {
  tag: 2,
  name: 'charges',
  columns: {
    id_key: 'integer',
    id_tail: 'integer',
    account_id: 'integer',
    previous_id: 'integer?',
    operation_id: 'integer?',
    api_key_id: 'integer',
    route: 'text',
    model: 'text',
    provider: 'text',
    input: 'integer',
    cached_input: 'integer',
    cache_write: 'integer',
    audio_input: 'integer',
    output: 'integer',
    reasoning: 'integer',
    audio_output: 'integer',
    provenance: 'text?',
    is_clamped: 'integer',
    images: 'integer?',
    duration_ms: 'integer?',
    tariff_id: 'integer?',
    cost: 'integer',
    shortfall: 'integer',
    at_ms: 'integer',
  },
  added: { cache_write_1h: 'integer?', server_tool_uses: 'integer?' },
  named: {
    provider_cost: 'integer?',
    search_calls: 'integer?',
    file_searches: 'integer?',
    service_tier: 'text?',
    assumed_cached: 'integer?',
    tags: 'text?',
    user_id: 'text?',
  },
} as const satisfies HashedTableDefinition

export const creditsTable = {
  tag: 3,
  name: 'credits',
  columns: {
    id_key: 'integer',
    id_tail: 'integer',
    account_id: 'integer',
    operation_id: 'integer',
    amount: 'integer',
    source: 'text',
    note: 'text?',
    idempotency_key: 'text?',
    available_after: 'integer',
  },
  named: { token_id: 'integer?', token_day: 'integer?' },
} as const satisfies HashedTableDefinition

export const tariffsTable = {
  tag: 4,
  name: 'tariffs',
  columns: { content: 'text' },
} as const satisfies HashedTableDefinition

const WITH_USAGE = "CASE WHEN state = 'abandoned' THEN"

/**
 * An abandoned attempt has its usage from the start and never changes. Any other one began as `timed_out`, without a
 * usage.
 */
export const attemptsTable = {
  tag: 5,
  name: 'attempts',
  columns: {
    request_key: 'integer',
    request_tail: 'integer',
    number: 'integer',
    account_id: 'integer',
    api_key_id: 'integer',
    route: 'text',
    model: 'text',
    provider: 'text',
    state: 'text',
    input: 'integer?',
    cached_input: 'integer?',
    cache_write: 'integer?',
    audio_input: 'integer?',
    output: 'integer?',
    reasoning: 'integer?',
    audio_output: 'integer?',
    tariff_id: 'integer?',
    at_ms: 'integer',
  },
  added: { cache_write_1h: 'integer?', server_tool_uses: 'integer?' },
  named: {
    provider_cost: 'integer?',
    search_calls: 'integer?',
    file_searches: 'integer?',
    service_tier: 'text?',
    tags: 'text?',
    user_id: 'text?',
  },
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
    provider_cost: `${WITH_USAGE} provider_cost END`,
    search_calls: `${WITH_USAGE} search_calls END`,
    file_searches: `${WITH_USAGE} file_searches END`,
    service_tier: `${WITH_USAGE} service_tier END`,
  },
  later: ['cost', 'is_clamped', 'compensated_by'],
} as const satisfies HashedTableDefinition

export const auditTable = {
  tag: 6,
  name: 'audit_log',
  columns: { actor: 'text', action: 'text', subject: 'text', at_ms: 'integer', detail: 'text?' },
  named: { revision: 'integer?', history_sha256: 'text?' },
} as const satisfies HashedTableDefinition

export const accountsTable = {
  tag: 7,
  name: 'accounts',
  columns: { public_id: 'text', name: 'text', sandbox_only: 'integer', created_at_ms: 'integer' },
  firstIn: { name: 'first_name' },
  later: ['suspended_at_ms', 'replays_off_at_ms', 'closed_at_ms', 'first_name', 'price_list'],
} as const satisfies HashedTableDefinition

export const apiKeysTable = {
  tag: 8,
  name: 'api_keys',
  columns: {
    public_id: 'text',
    account_id: 'integer',
    name: 'text',
    hash: 'blob',
    prefix: 'text',
    created_at_ms: 'integer',
  },
  named: { project_id: 'integer?' },
  firstIn: { name: 'first_name' },
  later: ['revoked_at_ms', 'disabled_at_ms', 'settings', 'last_used_day', 'first_name'],
} as const satisfies HashedTableDefinition

export const holdsTable = {
  tag: 9,
  name: 'holds',
  columns: {
    id_key: 'integer',
    id_tail: 'integer',
    account_id: 'integer',
    kind: 'text',
    amount: 'integer',
    placed_by: 'integer?',
    placed_at_ms: 'integer',
    owner: 'integer?',
    job_key: 'integer?',
    job_tail: 'integer?',
  },
  changing: { state: 'text', expires_at_ms: 'integer?' },
  later: ['resolved_by', 'resolved_at_ms'],
} as const satisfies HashedTableDefinition

export const jobsTable = {
  tag: 10,
  name: 'jobs',
  key: 'row_id',
  columns: {
    id_key: 'integer',
    id_tail: 'integer',
    kind: 'text',
    account_id: 'integer',
    api_key_id: 'integer',
    route: 'text',
    model: 'text',
    provider: 'text',
    upstream_model: 'text',
    quote: 'text',
    held: 'integer',
    node: 'text',
    created_at_ms: 'integer',
    job_deadline_at_ms: 'integer',
  },
  named: { request_key: 'integer?', request_tail: 'integer?', tags: 'text?', user_id: 'text?' },
  changing: {
    state: 'text',
    request: 'text',
    changed_at_ms: 'integer',
    next_poll_at_ms: 'integer',
    deadline_at_ms: 'integer',
  },
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
    'provider_cost',
  ],
} as const satisfies HashedTableDefinition

/** The latest event of a job has its state, so the hash of the event covers the state. */
export const jobEventsTable = {
  tag: 11,
  name: 'job_events',
  key: 'row_id',
  columns: { job: 'integer', state: 'text', detail: 'text?', at_ms: 'integer' },
  named: { facts: 'text?' },
} as const satisfies HashedTableDefinition

export const correctionsTable = {
  tag: 12,
  name: 'corrections',
  columns: {
    id_key: 'integer',
    id_tail: 'integer',
    account_id: 'integer',
    operation_id: 'integer',
    charge_id: 'integer?',
    amount: 'integer',
    note: 'text?',
    idempotency_key: 'text?',
    available_after: 'integer',
  },
} as const satisfies HashedTableDefinition

export const adminTokensTable = {
  tag: 13,
  name: 'admin_tokens',
  columns: {
    public_id: 'text',
    name: 'text',
    hash: 'blob',
    prefix: 'text',
    scopes: 'text',
    grants_per_day: 'integer?',
    expires_at_ms: 'integer?',
    created_by: 'text',
    created_at_ms: 'integer',
  },
  later: ['revoked_at_ms', 'last_used_day'],
} as const satisfies HashedTableDefinition

/** The audit log has the name of a project. */
export const projectsTable = {
  tag: 14,
  name: 'projects',
  columns: { public_id: 'text', account_id: 'integer', created_at_ms: 'integer' },
  changing: { name: 'text' },
  later: ['closed_at_ms'],
} as const satisfies HashedTableDefinition

export const keySecretsTable = {
  tag: 27,
  name: 'api_key_secrets',
  columns: {
    account_id: 'integer',
    api_key_id: 'integer',
    hash: 'blob',
    prefix: 'text',
    created_at_ms: 'integer',
  },
} as const satisfies HashedTableDefinition

export const secretEndsTable = {
  tag: 28,
  name: 'api_key_secret_ends',
  columns: {
    account_id: 'integer',
    api_key_id: 'integer',
    secret: 'integer',
    ends_at_ms: 'integer?',
    at_ms: 'integer',
  },
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
  adminTokensTable,
  projectsTable,
  keySecretsTable,
  secretEndsTable,
]

export function keyOf({ key }: HashedTableDefinition): string {
  return key ?? 'id'
}

/** The covered columns of a hashed table without those that were added later, in the order of the hash. */
export function columnsOf(table: HashedTableDefinition): readonly string[] {
  return [keyOf(table), ...Object.keys(table.columns), 'commit_id']
}

/** All covered columns of a hashed table, in the order of the hash. */
export function allColumnsOf(table: HashedTableDefinition): readonly string[] {
  const { columns, added = {}, named = {} } = table
  return [keyOf(table), ...Object.keys({ ...columns, ...added, ...named }), 'commit_id']
}

/**
 * A query for the covered values of each row: by default all columns, which `formOf` turns into the form of the row.
 */
export function selectCovered(table: HashedTableDefinition, columns = allColumnsOf(table)): string {
  const { name, atCreation = {}, firstIn = {} } = table
  const covered = columns.map(column => {
    const first = firstIn[column]
    return atCreation[column] ?? (first === undefined ? column : `ifnull(${first}, ${column})`)
  })
  return `SELECT ${covered.join(', ')} FROM ${name}`
}

/**
 * The values of a row that its hash covers, from the values of all its columns: those that were added later only if
 * they are not null, and the named ones with their names.
 */
export function formOf(
  { columns, added = {}, named = {} }: HashedTableDefinition,
  values: readonly SqlValue[],
): readonly SqlValue[] {
  const names = Object.keys(named)
  // The row id and the columns come first.
  const addedStart = 1 + Object.keys(columns).length
  const namedStart = addedStart + Object.keys(added).length
  return [
    ...values.slice(0, addedStart),
    ...values.slice(addedStart, namedStart).filter(value => value !== null),
    ...values
      .slice(namedStart, -1)
      .flatMap((value, index) => (value === null ? [] : [names[index] ?? '', value])),
    ...values.slice(-1),
  ]
}
