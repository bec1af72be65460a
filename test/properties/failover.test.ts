import { test } from 'bun:test'
import fc from 'fast-check'
import { callWithFailover } from '../../src/gateway/upstreams/call-with-failover.ts'
import { CircuitBreakers, RetryBudgets } from '../../src/gateway/upstreams/upstream-health.ts'
import type { CallResult } from '../../src/gateway/upstreams/attempt-result.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aCatalogOf, aDestination, aFailure, anAnswer } from '../support/upstream-rows.ts'

const READ_MS = 300_000
const PROVIDERS = ['a', 'b', 'c'] as const
type ProviderId = (typeof PROVIDERS)[number]

type Step =
  | { readonly step: 'wait'; readonly ms: number }
  /** From now on this upstream answers or fails. */
  | { readonly step: 'turn'; readonly provider: ProviderId; readonly result: CallResult }
  /** So many requests at once. */
  | { readonly step: 'request'; readonly count: number }

const aResult: fc.Arbitrary<CallResult> = fc.oneof(
  fc.constant(anAnswer()),
  fc
    .tuple(
      fc.constantFrom('server', 'unreachable', 'rate_limited', 'unpaid', 'not_offered', 'no_answer'),
      fc.option(fc.constantFrom('0', '1', '15', '86400'), { nil: undefined }),
    )
    .map(([reason, retryAfter]) => aFailure(reason, retryAfter)),
)

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ step: fc.constant('wait'), ms: fc.integer({ min: 1, max: 30_000 }) }),
  fc.record({ step: fc.constant('turn'), provider: fc.constantFrom(...PROVIDERS), result: aResult }),
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant('request'), count: fc.integer({ min: 1, max: 4 }) }),
  },
)

/** A model whose upstreams have the given orders, and which do as they are told. */
function aModel(orders: Readonly<Record<ProviderId, number>>) {
  const clock = fakeClock()
  const destinations = PROVIDERS.map(id => aDestination(id, { order: orders[id] }))
  const circuitBreakers = new CircuitBreakers({ catalog: { current: () => aCatalogOf(destinations) }, clock })
  const results = new Map<string, CallResult>()
  const resultOf = (id: string) => results.get(id) ?? anAnswer()
  const ports = {
    circuitBreakers,
    // No time passes in the pause before a retry.
    clock: { ...clock, after: immediately },
    retryBudgets: new RetryBudgets(clock),
    random: () => 0,
  }
  const request = async () => {
    const isOneUp = PROVIDERS.some(id => resultOf(id).kind === 'answer')
    const { selected } = await callWithFailover(
      { destinations, record: {} },
      async ({ provider }) => resultOf(provider.id),
      ports,
      { failOverWithinMs: READ_MS },
    )
    return { isOneUp, isAnswered: selected.result.kind === 'answer' }
  }
  return { clock, results, request }
}

function immediately(_delayMs: number, then: () => void): () => void {
  queueMicrotask(then)
  return () => undefined
}

test('a request is answered if one of its upstreams can answer, whatever failed before', async () => {
  const rank = fc.integer({ min: 1, max: 3 })
  const orders = fc.record({ a: rank, b: rank, c: rank })
  await fc.assert(
    fc.asyncProperty(orders, fc.array(aStep, { maxLength: 60, size: 'max' }), async (ranks, steps) => {
      const { clock, results, request } = aModel(ranks)
      for (const step of steps) {
        if (step.step === 'wait') clock.advance(step.ms)
        else if (step.step === 'turn') results.set(step.provider, step.result)
        else {
          const seen = await Promise.all(Array.from({ length: step.count }, request))
          if (seen.some(({ isOneUp, isAnswered }) => isOneUp !== isAnswered)) return false
        }
      }
      return true
    }),
    { numRuns: 500 },
  )
})
