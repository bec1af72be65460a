import { expect, test } from 'bun:test'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { AttemptResult } from '../upstreams/attempt-result.ts'
import { refuseText, unrepeatable } from './refuse-text.ts'

const KEY = 'a-key-that-only-its-name-gives-away'

/** The log text for a request that ended with this result. */
function loggedProblem(result: Exclude<AttemptResult, { kind: 'answer' }>): string | undefined {
  const destination = aDestination('main')
  const admitted = anAdmittedRequest([destination])
  refuseText(admitted, { destination, result }, { secretOf: () => KEY })
  return admitted.call.record.upstreamProblem
}

const withMessage = (message: string) => JSON.stringify({ error: { message } })

test('the log says why an upstream refused a request, without hosts and keys', () => {
  const body = withMessage(`No "n" at main.example.com with ${KEY}.`)
  const outcome = { outcome: 'answered', status: 400, body, reportedCost: null } as const

  const problem = loggedProblem({ kind: 'refusal', status: 400, outcome })

  expect(problem).toBe('status 400: No "n" at [host] with [redacted].')
})

test('the log has the upstream’s message to the operator, shortened', () => {
  const errorBody = withMessage(`Incorrect key ${KEY}. ${'x'.repeat(1000)}`)

  const problem = loggedProblem({ kind: 'failure', reason: 'unpaid', problem: 'status 401', errorBody })

  expect(problem).toStartWith('status 401: Incorrect key [redacted]. xxx')
  expect(problem!.length).toBeLessThan(250)
})

test('the log says that an upstream did not answer in time', () => {
  expect(loggedProblem({ kind: 'timeout' })).toBe('no answer in time')
})

test('a disconnected client is not logged as a problem of its upstream', () => {
  expect(loggedProblem({ kind: 'aborted' })).toBeUndefined()
})

test('an unexpected failure after a call tells client libraries not to retry, and keeps its cause', () => {
  const cause = new Error('a bug')

  const error = unrepeatable(cause)

  expect(error).toMatchObject({ code: 'server_error', cause, extras: { shouldRetry: false } })
})

test('a commit that fails after a call is unavailable, and client libraries must not retry', () => {
  const cause = new GatewayError('unavailable', 'Try again.', { retryAfter: '5' })

  const error = unrepeatable(cause)

  expect(error).toMatchObject({ code: 'unavailable', cause })
  expect(error.extras).toEqual({ cause, shouldRetry: false })
})

test('an error for the client stays as it is', () => {
  const error = new GatewayError('upstream_error', 'The model did not answer.')

  expect(unrepeatable(error)).toBe(error)
})
