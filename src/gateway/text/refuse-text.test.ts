import { expect, test } from 'bun:test'
import type { Verdict } from '../upstreams/attempt-result.ts'
import { refuseText } from './refuse-text.ts'
import type { TextTrace } from './text-call.ts'

const KEY = 'a-key-that-only-its-name-gives-away'

/** What the log says of a request that ended so. */
function traceOf(verdict: Exclude<Verdict, { verdict: 'answer' }>): TextTrace {
  const trace: TextTrace = { provider: 'main' }
  const provider = { id: 'main', baseUrl: 'https://api.upstream.example/v1' }
  const job = { call: { trace }, destinations: [{ provider }] }
  try {
    refuseText(verdict, job as never, () => KEY)
  } catch {
    // The client's error is the scenarios' matter.
  }
  return trace
}

const saying = (message: string) => JSON.stringify({ error: { message } })

test('the log says why an upstream refused a request, without its hosts and keys, and counts no failure', () => {
  const body = saying(`No "n" at api.upstream.example with ${KEY}.`)
  const outcome = { outcome: 'answered', status: 400, headers: {}, body, reportedCost: null } as const

  const trace = traceOf({ verdict: 'refusal', outcome })

  expect(trace.upstreamProblem).toBe('status 400: No "n" at [host] with [redacted].')
  expect(trace.upstreamFailures).toBeUndefined()
})

test('the log says what an upstream said to the operator, shortened', () => {
  const said = saying(`Incorrect key ${KEY}. ${'x'.repeat(1000)}`)

  const trace = traceOf({
    verdict: 'failure',
    reason: 'unpaid',
    retryAfterS: undefined,
    problem: 'status 401',
    said,
  })

  expect(trace.upstreamProblem).toStartWith('status 401: Incorrect key [redacted]. xxx')
  expect(trace.upstreamProblem!.length).toBeLessThan(250)
  expect(trace.upstreamFailures).toEqual([{ provider: 'main', reason: 'unpaid' }])
})

test('the log says that an upstream did not answer in time', () => {
  const trace = traceOf({ verdict: 'timeout' })

  expect(trace.upstreamProblem).toBe('no answer in time')
  expect(trace.upstreamFailures).toEqual([{ provider: 'main', reason: 'timeout' }])
})

test('a client that left is no failure of its upstream', () => {
  expect(traceOf({ verdict: 'aborted' })).toEqual({ provider: 'main' })
})
