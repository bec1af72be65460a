import { expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import type { RequestRecord } from '../request-context.ts'
import { levelOf, requestLine } from './observe-requests.ts'

function read(record: RequestRecord, headers: Readonly<Record<string, string>> = {}): unknown {
  const request = { header: (name: string) => headers[name] ?? null }
  const context = { request, id: { key: 1n, tail: 1n }, requestId: 'req_1', record }
  const line = requestLine({ context, route: 'chat', status: 200, durationMs: 1.23456 } as never, '192.0.2.1')
  return JSON.parse(`{${line}}`)
}

const BARE = {
  request_id: 'req_1',
  client_address: '192.0.2.1',
  route: 'chat',
  status: 200,
  duration_ms: 1.235,
}

test('the line of a request without details has its status and duration', () => {
  expect(read({})).toEqual(BARE)
})

test('the line of a request has all its details', () => {
  const record: Required<RequestRecord> = {
    accountId: 'acct_1',
    apiKeyId: 'key_1',
    model: 'gpt-x',
    // Not logged: they may be personal, or the charge or the record of the request has them.
    userId: 'user-1',
    projectId: 'proj_1',
    held: usd('0.5'),
    providerCost: usd('0.125'),
    attempts: [{ provider: 'main' }],
    errorExtensions: {},
    tags: new Map([['team', 'a']]),
    provider: 'main',
    jobId: 'img_1',
    jobState: 'completed',
    jobFault: 'provider',
    upstreamStatus: 200,
    upstreamProblem: 'slow',
    upstreamFailures: [],
    clientDisconnected: true,
    failedOverFrom: ['a: status 500', 'b: timeout'],
    usage: { ...NO_USAGE, input: 3, cachedInput: 2, output: 5 },
    provenance: 'reported',
    isClamped: true,
    cost: usd('0.25'),
    shortfall: usd('0'),
    isCostUnreported: false,
    isRefusalBilled: false,
    moderation: 'unavailable',
    moderationProblem: 'slow too',
    isReplay: true,
    replayOf: { key: 1n, tail: 2n },
    rates: {},
    refusedBy: { scope: 'key', limit: 'day_budget' },
    errorCode: 'upstream_error',
    failure: undefined,
  }

  expect(read(record)).toEqual({
    ...BARE,
    account: 'acct_1',
    api_key: 'key_1',
    model: 'gpt-x',
    provider: 'main',
    job_id: 'img_1',
    job_state: 'completed',
    upstream_status: 200,
    upstream_problem: 'slow',
    client_disconnected: true,
    failed_over_from: 'a: status 500; b: timeout',
    input_tokens: 5,
    output_tokens: 5,
    usage_source: 'reported',
    is_clamped: true,
    cost_usd: '0.25',
    moderation: 'unavailable',
    moderation_problem: 'slow too',
    is_replay: true,
    error_code: 'upstream_error',
  })
})

test('text from outside is escaped', () => {
  const nasty = '"},\n\u2028\\{"x":"'

  const line = read(
    { model: nasty, provider: nasty, upstreamProblem: nasty },
    { 'x-client-request-id': nasty },
  )

  expect(line).toEqual({
    ...BARE,
    client_request_id: nasty,
    model: nasty,
    provider: nasty,
    upstream_problem: nasty,
  })
})

test('the request id of a client is shortened', () => {
  expect(read({}, { 'x-request-id': 'x'.repeat(200) })).toEqual({
    ...BARE,
    client_request_id: 'x'.repeat(128),
  })
})

test.each<[string, string, RequestRecord]>([
  ['an answer', 'info', {}],
  ['a body that is not JSON', 'info', { errorCode: 'invalid_json' }],
  ['a refusal by the provider', 'info', { upstreamStatus: 400, upstreamProblem: 'status 400: no' }],
  ['a client that left', 'info', { clientDisconnected: true }],
  ['a provider without an answer', 'warn', { errorCode: 'upstream_error' }],
  ['a provider that was too slow', 'warn', { errorCode: 'upstream_timeout' }],
  [
    'a failover that succeeded',
    'warn',
    { cost: usd('1'), upstreamFailures: [{ provider: 'a', reason: 'server' }] },
  ],
  ['a job that its provider refused', 'info', { jobFault: 'client', errorCode: 'server_error' }],
  ['a job that its provider failed', 'warn', { jobFault: 'provider', errorCode: 'server_error' }],
  ['a moderator without a verdict', 'warn', { moderationProblem: 'slow' }],
  ['a store that cannot be written', 'error', { errorCode: 'unavailable' }],
  ['damaged books', 'error', { errorCode: 'books_inconsistent' }],
  ['a bug', 'error', { errorCode: 'server_error', failure: new TypeError('x') }],
])('the line of %s has the level %s', (_, level, record) => {
  expect(levelOf('chat', record)).toBe(level as 'info')
})

test('of many alike refusals, those that are not recorded have the level debug, unless a provider or the gateway failed', () => {
  const isRecorded = false

  expect(levelOf('chat', { errorCode: 'requests_per_minute' }, isRecorded)).toBe('debug')
  expect(levelOf('chat', { errorCode: 'upstream_error' }, isRecorded)).toBe('warn')
  expect(levelOf('chat', { errorCode: 'server_error' }, isRecorded)).toBe('error')
})

test('calls of monitoring have the level debug, unless they fail', () => {
  expect([levelOf('metrics', {}), levelOf('health.ready', { failure: new Error('the disk') })]).toEqual([
    'debug',
    'error',
  ])
})
