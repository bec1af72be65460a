import { nanoUsd, usd, type NanoUsd } from '../../src/domain/money.ts'
import { simulatedKinds, type SimulatedKindName } from '../support/simulators/media/simulated-kinds.ts'
import type { Random } from './random.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What one run is made of. Drawn from its seed. */
export type Plan = {
  /** What each account starts with. */
  readonly funds: readonly NanoUsd[]
  /** What the key of each account may use. Null is no limit. */
  readonly keyLimits: readonly { readonly slots: number | null; readonly budget: NanoUsd | null }[]
  readonly requests: number
  /** The time in which they come. */
  readonly spanMs: number
  readonly operatorEdits: number
  readonly rotations: number
  /** The kinds of the providers that have a wire. */
  readonly wires: readonly SimulatedKindName[]
  readonly settings: {
    readonly jobTtlMs: number
    readonly isOpenAiMediaOn: boolean
    readonly unknownSubmitTtlMs: number
    readonly waitMsMax: number
    readonly reconcileEveryMs: number
    readonly retention: { readonly imageMs: number; readonly videoMs: number | null }
  }
  readonly chaos: Chaos
}

export type Chaos = {
  /** Of a thousand steps of a node. */
  readonly kills: number
  readonly killsMax: number
  readonly pauses: number
  readonly powerCuts: number
  readonly fullDisks: number
  /** The share of calls that take seconds or minutes. */
  readonly slowCalls: number
  /** The share of provider calls and downloads that go wrong. */
  readonly upstreamFaults: number
  readonly disorder: number
  readonly batching: number
  /** By how much the wall clock of each node is wrong. */
  readonly skewsMs: readonly number[]
}

const wireNames = Object.keys(simulatedKinds) as SimulatedKindName[]

export function aPlan(random: Random): Plan {
  const funds = Array.from({ length: random.integer(1, 4) }, () => thinFunds(random))
  return {
    funds,
    keyLimits: funds.map(() => ({
      slots: random.pick([null, null, 1, 3]),
      budget: random.pick([null, null, thinFunds(random)]),
    })),
    requests: random.integer(4, 24),
    spanMs: random.magnitude(MINUTE, 2 * HOUR),
    operatorEdits: random.integer(0, 8),
    rotations: random.integer(0, 8),
    wires: [random.pick(wireNames), random.pick(wireNames)],
    settings: {
      jobTtlMs: random.pick([30 * MINUTE, 3 * HOUR, DAY]),
      isOpenAiMediaOn: false,
      unknownSubmitTtlMs: random.pick([5 * MINUTE, 15 * MINUTE, 15 * MINUTE]),
      waitMsMax: random.pick([5 * SECOND, 30 * SECOND, 150 * SECOND]),
      reconcileEveryMs: random.pick([10 * SECOND, MINUTE, 150 * SECOND, 150 * SECOND, 10 * MINUTE]),
      retention: {
        imageMs: random.pick([3 * HOUR, 7 * DAY, 7 * DAY]),
        videoMs: random.pick([null, null, 5 * HOUR]),
      },
    },
    chaos: {
      kills: random.pick([0, 1, 4, 15]),
      killsMax: random.integer(1, 10),
      pauses: random.pick([0, 0, 1, 4]),
      powerCuts: random.pick([0, 0, 0.3, 1]),
      fullDisks: random.pick([0, 0, 0, 1]),
      slowCalls: random.pick([0, 0.02, 0.02, 0.2]),
      upstreamFaults: random.pick([0, 0.1, 0.3, 0.6]),
      disorder: random.pick([0, 0.05, 0.3]),
      batching: random.pick([0, 0, 0.02, 0.1]),
      skewsMs: [0, random.pick([0, 0, -1000, 700])],
    },
  }
}

/** Enough for a few jobs, and often not for one more. */
function thinFunds(random: Random): NanoUsd {
  return nanoUsd(usd('0.05') * BigInt(random.integer(1, 80)))
}
