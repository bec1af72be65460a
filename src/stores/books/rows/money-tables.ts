import type { HashedTableDefinition } from './hashed-table.ts'

// The hashed tables of money: what was moved and held, and what for.

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
  named: { token_id: 'integer?', token_day: 'integer?', by_user_id: 'integer?', by_user_day: 'integer?' },
} as const satisfies HashedTableDefinition

export const tariffsTable = {
  tag: 4,
  name: 'tariffs',
  columns: { content: 'text' },
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
