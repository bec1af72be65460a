import type { Mutant } from '../mutant.ts'

const CALL = 'src/gateway/upstreams/call-with-failover.ts'
const CALL_TESTS = 'src/gateway/upstreams/call-with-failover.test.ts'
const UNPAID = 'src/gateway/text/call-upstreams.ts'
const UNPAID_TESTS = 'src/gateway/text/call-upstreams.test.ts'
const SELECT = 'src/gateway/upstreams/attempt-result.ts'
const SELECT_TESTS = 'src/gateway/upstreams/attempt-result.test.ts'
const BREAKERS = 'src/gateway/upstreams/upstream-health.ts'
const BREAKER_TESTS = 'src/gateway/upstreams/upstream-health.test.ts'
const RESULT = 'src/gateway/upstreams/attempt-result.ts'
const LATE = 'src/gateway/text/late-answers.ts'
const LATE_TESTS = 'src/gateway/text/late-answers.test.ts'

/** Faults in failover, circuit breakers and late answers. */
export const failoverMutants: readonly Mutant[] = [
  {
    name: 'an empty answer does not fail over',
    file: SELECT,
    text: "return result.kind === 'failure' || isEmptyAnswer(result)",
    replacement: "return result.kind === 'failure'",
    tests: [CALL_TESTS],
  },
  {
    name: 'a timeout fails over, so two upstreams may bill',
    file: SELECT,
    text: "return result.kind === 'failure' || isEmptyAnswer(result)",
    replacement: "return result.kind === 'failure' || result.kind === 'timeout' || isEmptyAnswer(result)",
    tests: [CALL_TESTS],
  },
  {
    name: 'a refusal of the request fails over',
    file: SELECT,
    text: "return result.kind === 'failure' || isEmptyAnswer(result)",
    replacement: "return result.kind === 'failure' || result.kind === 'refusal' || isEmptyAnswer(result)",
    tests: [CALL_TESTS],
  },
  {
    name: 'a model that an upstream does not offer opens its circuit breaker',
    file: SELECT,
    text: "if (result.reason === 'not_offered') return { signal: 'none' }",
    replacement: '',
    tests: [SELECT_TESTS],
  },
  {
    name: 'an empty answer is charged although its client has left',
    file: SELECT,
    text: 'return 5',
    replacement: 'return 3',
    tests: [SELECT_TESTS],
  },
  {
    name: 'of two rate limits, the longer one is reported',
    file: SELECT,
    text: 'waitMs(earlier, nowMs) < waitMs(later, nowMs)',
    replacement: 'waitMs(earlier, nowMs) > waitMs(later, nowMs)',
    tests: [SELECT_TESTS],
  },
  {
    name: 'upstreams with open circuit breakers are not called after the others',
    file: CALL,
    text: 'if (left.length === 0 || ',
    replacement: 'if (left.every(other => ports.circuitBreakers.openUntilMs(other) !== undefined) || ',
    tests: [CALL_TESTS],
  },
  {
    name: 'a request fails over after its time is over',
    file: CALL,
    text: ' || clock.monotonicMs() >= failOverUntilMs',
    replacement: '',
    tests: [CALL_TESTS],
  },
  {
    name: 'an upstream is called again after it failed',
    file: CALL,
    text: 'left = left.filter(other => other !== destination)',
    replacement: 'left = attempts.length === 0 ? left : left.filter(other => other !== destination)',
    tests: [CALL_TESTS],
  },
  {
    name: 'attempts whose result is not used are not recorded',
    file: UNPAID,
    text: '    recordUnpaidWork(admitted, attempt, ports)',
    replacement: '',
    tests: [UNPAID_TESTS],
  },
  {
    name: 'a stream that was given up is not recorded if its failure goes to the client',
    file: UNPAID,
    text: 'recordUnpaidWork(admitted, selected, ports)',
    replacement: 'void selected',
    tests: [UNPAID_TESTS],
  },
  {
    name: 'an upstream is called again although its circuit breaker is open',
    file: CALL,
    text: ' || isOpen()) return undefined',
    replacement: ') return undefined',
    tests: [CALL_TESTS],
  },
  {
    name: 'any number of requests is sent twice',
    file: CALL,
    text: 'if (!retryBudgets.takeRetry(destination.upstream)) return undefined',
    replacement: '',
    tests: [CALL_TESTS],
  },
  {
    name: 'a 504 of the upstream is retried, so an upstream may bill twice',
    file: 'src/gateway/upstreams/call-with-failover.ts',
    text: 'new Set([500, 502, 503])',
    replacement: 'new Set([500, 502, 503, 504])',
    tests: ['src/gateway/upstreams/call-with-failover.test.ts'],
  },
  {
    name: 'every silent upstream of a request is given up',
    file: CALL,
    text: 'if (wasGivenUp(result)) mayGiveUp = false',
    replacement: '',
    tests: [CALL_TESTS],
  },
  {
    name: 'an upstream with a higher order is tried first',
    file: 'src/gateway/upstreams/call-with-failover.ts',
    text: 'Math.min(...destinations',
    replacement: 'Math.max(...destinations',
    tests: ['src/gateway/upstreams/call-with-failover.test.ts'],
  },
  {
    name: 'the weight of upstreams is ignored',
    file: 'src/gateway/upstreams/call-with-failover.ts',
    text: 'left -= destination.upstream.weight',
    replacement: 'left -= destination.upstream.order',
    tests: ['src/gateway/upstreams/call-with-failover.test.ts'],
  },
  {
    name: 'a circuit breaker opens one failure too late',
    file: BREAKERS,
    text: 'breaker.failures >= FAILURES_BEFORE_OPEN',
    replacement: 'breaker.failures > FAILURES_BEFORE_OPEN',
    tests: [BREAKER_TESTS],
  },
  {
    name: 'a half-open circuit breaker lets any number of probes through',
    file: BREAKERS,
    text: ' && breaker.probes === 0',
    replacement: '',
    tests: [BREAKER_TESTS],
  },
  {
    name: 'a call from before the failures closes a circuit breaker',
    file: BREAKERS,
    text: ' || (breaker.openUntilMs !== undefined && breaker !== probed)',
    replacement: '',
    tests: [BREAKER_TESTS],
  },
  {
    name: 'a circuit breaker survives an edit of its provider',
    file: BREAKERS,
    text: 'return breaker?.provider === destination.provider ? breaker : undefined',
    replacement: 'return breaker',
    tests: [BREAKER_TESTS],
  },
  {
    name: 'a failed probe is counted twice',
    file: BREAKERS,
    text: 'if (probed !== undefined) probed.probes -= 1',
    replacement: 'if (probed !== undefined) probed.probes -= 2',
    tests: [BREAKER_TESTS],
  },
  {
    name: "the operator's own 401 goes to the customer",
    file: RESULT,
    text: "  401: 'unpaid',\n",
    replacement: '',
    tests: ['test/scenarios/failover/upstream-failures.test.ts'],
  },
  {
    name: 'a rate limit of the upstream counts as a refusal of the request',
    file: RESULT,
    text: "if (status === 429) return failure(outcome, 'rate_limited', 'status 429')",
    replacement: '',
    tests: ['test/scenarios/failover/upstream-failures.test.ts'],
  },
  {
    name: 'a Retry-After in seconds is read as milliseconds',
    file: 'src/providers/http/read-answer.ts',
    text: 'Number(text) * 1000',
    replacement: 'Number(text)',
    tests: ['src/providers/http/read-answer.test.ts'],
  },
  {
    name: 'a 504 leaves before its late mark is durable',
    file: 'src/gateway/text/run-text.ts',
    text: 'await ports.lateAnswers.expect(admitted, attempt, result.late)',
    replacement: 'ports.lateAnswers.expect(admitted, attempt, result.late).catch(() => {})',
    tests: ['src/gateway/text/run-text.test.ts'],
  },
  {
    name: 'a call goes on although its late mark could not be written',
    file: LATE,
    text: `      late?.abandon()
      throw error`,
    replacement: '      throw error',
    tests: [LATE_TESTS],
  },
  {
    name: 'any number of late calls may run',
    file: LATE,
    text: 'this.#running.size >= LATE_CALLS_MAX || ',
    replacement: '',
    tests: [LATE_TESTS],
  },
  {
    name: 'a late answer without a usage stays open',
    file: LATE,
    text: 'if (bill === null) await this.#attempts.close(attempt)',
    replacement: 'if (bill === null) return',
    tests: [LATE_TESTS],
  },
  {
    name: 'a stop records late calls that it cut off',
    file: LATE,
    text: 'if (this.#isStopped) return',
    replacement: '',
    tests: [LATE_TESTS],
  },
  {
    name: 'a refusal of a provider that does not bill refusals is recorded as billed',
    file: UNPAID,
    text: "if (destination.provider.billsRefused !== 'content_filter') return false",
    replacement: '',
    tests: ['test/scenarios/text/billed-refusals.test.ts'],
  },
  {
    name: 'operators are not told that the only upstream of a model fails',
    file: 'src/gateway/upstreams/call-with-failover.ts',
    text: 'const result = await callThroughBreaker(next, call, ports)',
    replacement:
      'const result = await (destinations.length === 1 ? call(destination, false) : callThroughBreaker(next, call, ports))',
    tests: ['src/gateway/upstreams/call-with-failover.test.ts', 'test/scenarios/events/webhooks.test.ts'],
  },
]
