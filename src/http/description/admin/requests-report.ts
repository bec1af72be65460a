import { reportGroups, tokenKinds } from '../../../domain/requests/request-report.ts'
import { ok, pageParameters, timeRangeParameters, type Paths } from '../operation.ts'
import {
  about,
  count,
  dateTime,
  flag,
  idOf,
  listOf,
  nullable,
  object,
  ref,
  text,
  words,
  type Members,
} from '../schema.ts'

const time = nullable({ type: 'number', minimum: 0 })

const requestSumMembers: Members = {
  requests: about('By provider, the calls of the provider.', count),
  errors: about('Those with an error code or a status from 400. By provider, the failed calls.', count),
  duration_p50_ms: about('Half of the requests without an error took at most this time.', time),
  duration_p99_ms: time,
  first_byte_p50_ms: about('Until the first byte of the reply: of a stream, its first token.', time),
  first_byte_p99_ms: time,
  tokens: about(
    'Tokens by kind. Kinds without tokens are left out.',
    object({}, Object.fromEntries(tokenKinds.map(kind => [kind, count]))),
  ),
}

export const requestSumsExample = {
  requests: 2,
  errors: 0,
  duration_p50_ms: 812,
  duration_p99_ms: 1540,
  first_byte_p50_ms: 204,
  first_byte_p99_ms: 330,
  tokens: { input: 20, output: 10 },
}

export const adminRequestsReportSchemas: Members = {
  RequestSums: object(requestSumMembers),
  RequestGroup: object(requestSumMembers, {
    day: { type: 'string', format: 'date' },
    hour: dateTime,
    status: { type: 'integer' },
    model: text,
    provider: text,
    account: idOf('acct'),
    account_name: nullable(text),
  }),
}

/** How many requests there were, and how they went. */
export const adminRequestsReportPaths: Paths = {
  'requests/report': {
    get: {
      tag: 'Admin: reading and checking',
      access: 'admin',
      id: 'readRequestsReport',
      summary: 'Requests, errors, latency and tokens, by day, hour, status, model, provider or account',
      description:
        'Counts of all requests that were recorded, also of those whose records are deleted, for 92 days. Percentiles are at most 4.5 % from the exact values. The times are starts of days in UTC, or of hours by hour. Without them, the report has the current month, or the last 24 hours by hour. Days and hours are in their order; other groups begin with the most requests.',
      parameters: [
        {
          name: 'by',
          in: 'query',
          description: 'What the sums are grouped by; `day` by default.',
          schema: words(reportGroups),
        },
        ...timeRangeParameters,
        ...pageParameters.filter(({ name }) => name === 'limit'),
      ],
      replies: ok(
        'The report. Each sum has its group.',
        object({
          from: dateTime,
          to: dateTime,
          is_on: about('False if requests are not recorded.', flag),
          data: listOf(ref('RequestGroup')),
          has_more: about('Whether there are more groups than `limit`. They are only in the totals.', flag),
          totals: ref('RequestSums'),
        }),
        {
          from: '2026-11-01T00:00:00.000Z',
          to: '2026-11-24T00:00:00.000Z',
          is_on: true,
          data: [{ day: '2026-11-23', ...requestSumsExample }],
          has_more: false,
          totals: requestSumsExample,
        },
      ),
      errors: ['invalid_field', 'unavailable', 'overloaded'],
    },
  },
}
