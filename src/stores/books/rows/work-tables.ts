import type { HashedTableDefinition } from './hashed-table.ts'

// The hashed tables of upstream work: attempts that were given up, and jobs with their events.

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
