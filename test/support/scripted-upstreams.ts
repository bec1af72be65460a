import type { CallResult } from '../../src/gateway/upstreams/attempt-result.ts'
import type { CallUpstream } from '../../src/gateway/upstreams/call-with-failover.ts'
import { CircuitBreakers, RetryBudgets } from '../../src/gateway/upstreams/upstream-health.ts'
import { fakeClock } from './fake-clock.ts'
import { aCatalogOf, aDestination } from './upstream-rows.ts'

/** Upstreams `a`, `b`, … with increasing orders, and the results of their calls. The last result repeats. */
export function scriptedUpstreams(results: Readonly<Record<string, readonly CallResult[]>>) {
  const clock = fakeClock()
  const destinations = Object.keys(results).map((id, index) => aDestination(id, { order: index + 1 }))
  const circuitBreakers = new CircuitBreakers({ catalog: { current: () => aCatalogOf(destinations) }, clock })
  const retryBudgets = new RetryBudgets(clock)
  const called: string[] = []
  const turns = new Map<string, number>()
  const call: CallUpstream<CallResult> = async ({ provider: { id } }) => {
    called.push(id)
    const turn = turns.get(id) ?? 0
    turns.set(id, turn + 1)
    return results[id]!.at(Math.min(turn, results[id]!.length - 1))!
  }
  const ports = { circuitBreakers, retryBudgets, clock, random: () => 0 }
  return { call, called, clock, circuitBreakers, destinations, ports }
}
