import { openStates } from '../../../domain/jobs/job.ts'
import { alertKinds } from '../../../gateway/admin/reports/overview.ts'
import { providerStates } from '../../admin/reports/overview.ts'
import { ok, type Paths } from '../operation.ts'
import {
  about,
  count,
  dateTime,
  flag,
  listOf,
  nullable,
  object,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'
import { marginExample, margins } from './margins.ts'
import { requestSumsExample } from './requests-report.ts'

const common = { tag: 'Admin: reading and checking', access: 'admin' } as const

export const adminOverviewSchemas: Members = {
  MarginSums: object(margins),
  Circuit: object({
    provider: text,
    model: about('As the provider calls it.', text),
    state: words(['closed', 'half_open', 'open']),
    failures: about('Failed calls since the last success.', count),
    open_for_ms: about('How much longer it is open. Null unless it is.', nullable(count)),
  }),
  ProviderState: object({
    provider: text,
    state: about(
      '`failing`: its last call failed, and its circuit breaker is closed.',
      words(providerStates),
    ),
    circuits: about('Of its models that failed and have not succeeded since.', listOf(ref('Circuit'))),
    recent_failures: about(
      'At most 20, newest first.',
      listOf(object({ model: text, reason: nullable(text), at: dateTime })),
    ),
  }),
  Overview: object({
    today: about('Null while an upgrade adds up earlier charges.', nullable(ref('MarginSums'))),
    last_30_days: about('Today included.', nullable(ref('MarginSums'))),
    requests_24_hours: about(
      'Of whole hours, the current one included. Null if requests are not recorded.',
      nullable(ref('RequestSums')),
    ),
    circuits: listOf(ref('Circuit')),
    open_jobs: object(Object.fromEntries(openStates.map(state => [state, count]))),
    held_usd: object({ text: usd, media: usd }),
    books: object({
      accepts_paid_work: flag,
      is_writable: flag,
      stopped_because: nullable(text),
      stopped_accounts: count,
      last_check: about(
        'Null before the first check since the start has ended.',
        nullable(
          object({
            at: dateTime,
            open_problems: count,
            all_rows: about('False if it read only the rows since the check before.', flag),
            all_rows_at: about('When the last check of all rows ended.', nullable(dateTime)),
          }),
        ),
      ),
    }),
    alerts: listOf(object({ kind: words(alertKinds), message: text })),
  }),
}

const AT = '2026-11-21T05:50:09.183Z'
const circuit = { provider: 'openai', model: 'gpt-x', state: 'open', failures: 3, open_for_ms: 4200 }

/** What an operator looks at first, and how providers are. */
export const adminOverviewPaths: Paths = {
  overview: {
    get: {
      ...common,
      id: 'readOverview',
      summary: 'Money, requests, circuit breakers, jobs, books and alerts in one reply',
      description: 'It reads only sums, so it is cheap. Circuit breakers are those of the node that replies.',
      replies: ok('The overview.', ref('Overview'), {
        today: marginExample,
        last_30_days: marginExample,
        requests_24_hours: requestSumsExample,
        circuits: [circuit],
        open_jobs: { queued: 0, processing: 1, unknown_submit: 0 },
        held_usd: { text: '0', media: '0.25' },
        books: {
          accepts_paid_work: true,
          is_writable: true,
          stopped_because: null,
          stopped_accounts: 0,
          last_check: { at: AT, open_problems: 0, all_rows: true, all_rows_at: AT },
        },
        alerts: [],
      }),
      errors: ['invalid_field'],
    },
  },
  'provider-states': {
    get: {
      ...common,
      id: 'listProviderStates',
      summary: 'The circuit breakers and the last failures of each provider',
      description: 'As the node that replies saw them since its start.',
      replies: ok('All providers.', object({ data: listOf(ref('ProviderState')) }), {
        data: [
          {
            provider: 'openai',
            state: 'open',
            circuits: [circuit],
            recent_failures: [{ model: 'gpt-x', reason: 'timeout', at: AT }],
          },
        ],
      }),
      errors: ['invalid_field'],
    },
  },
  'providers/{provider}/test': {
    post: {
      ...common,
      tag: 'Admin: catalog',
      id: 'testProvider',
      summary: 'Whether a provider responds and accepts its key',
      description: 'It costs nothing. The test is in the audit log.',
      parameters: [{ name: 'provider', in: 'path', description: 'Its id.', schema: text, example: 'openai' }],
      replies: ok(
        'The result. `detail` is a sentence without secrets.',
        object({ provider: text, ok: flag, detail: text, duration_ms: count }),
        { provider: 'openai', ok: true, detail: 'It responds and accepts its key.', duration_ms: 240 },
      ),
      errors: ['not_found', 'invalid_field', 'invalid_json'],
    },
  },
}
