/**
 * The tables whose rows commit hashes cover, with the columns that they cover, in the order of the hash. The tag of a table never
 * changes. A table that gets another column which a hash has to cover gets a second definition with a tag of its own: rows stay
 * verified with the definition that they were written with.
 */
export type HashedTableDefinition = {
  readonly tag: number
  readonly name: 'operations' | 'charges' | 'credits' | 'tariffs'
  /** Without `id`, which comes first, and `commit_id`, which comes last. */
  readonly columns: readonly string[]
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

/** In the order in which a commit covers them. */
export const hashedTables: readonly HashedTableDefinition[] = [
  operationsTable,
  chargesTable,
  creditsTable,
  tariffsTable,
]

/** All columns of a hashed table, in the order of the hash. */
export function columnsOf({ columns }: HashedTableDefinition): readonly string[] {
  return ['id', ...columns, 'commit_id']
}
