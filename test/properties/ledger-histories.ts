import fc from 'fast-check'
import { HOLD_TTL_MS } from '../../src/domain/ledger/hold.ts'

/** Few and small numbers, so that repeats, races and shortages are common. */
export const ACCOUNTS = 2
const HOLDS = 6
const CREDITS = 8
const ATTEMPTS = 4
const DOLLARS_MAX = 6

/**
 * One call on one of two nodes. `credit`, `hold` and `attempt` are numbers of its subject, so that several calls have
 * the same one.
 */
export type Call = { readonly node: 0 | 1 } & (
  | {
      readonly call: 'credit'
      readonly credit: number
      readonly idempotencyKey: string | undefined
      /** With another amount than other calls for this credit. */
      readonly differs: boolean
    }
  | {
      readonly call: 'placeHold'
      readonly hold: number
      readonly account: number
      readonly dollars: number
      /** With another amount than the open hold. */
      readonly differs: boolean
    }
  | { readonly call: 'captureHold'; readonly hold: number; readonly dollars: number }
  | { readonly call: 'releaseHold'; readonly hold: number }
  | { readonly call: 'expireHold'; readonly hold: number }
  | { readonly call: 'renewHolds' }
  | { readonly call: 'recordAttempt'; readonly attempt: number }
  | { readonly call: 'billAttempt'; readonly attempt: number; readonly dollars: number }
  | { readonly call: 'compensate'; readonly attempt: number }
)

/** Concurrent calls, and what happens to them. */
export type Wave = {
  /** The time since the wave before. */
  readonly afterMs: number
  readonly calls: readonly Call[]
  readonly fate: 'answered' | 'disk full' | 'killed before the commit' | 'killed after the commit' | 'closed'
}

const node = fc.constantFrom(0 as const, 1 as const)
const hold = fc.nat(HOLDS - 1)
const attempt = fc.nat(ATTEMPTS - 1)
const dollars = fc.nat(DOLLARS_MAX)
const differs = fc.nat(7).map(number => number === 0)

const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      node,
      call: fc.constant('credit' as const),
      credit: fc.nat(CREDITS - 1),
      idempotencyKey: fc.constantFrom(undefined, undefined, 'code-1', 'code-2'),
      differs,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      node,
      call: fc.constant('placeHold' as const),
      hold,
      account: fc.nat(ACCOUNTS - 1),
      dollars,
      differs,
    }),
  },
  { weight: 4, arbitrary: fc.record({ node, call: fc.constant('captureHold' as const), hold, dollars }) },
  { weight: 2, arbitrary: fc.record({ node, call: fc.constant('releaseHold' as const), hold }) },
  { weight: 2, arbitrary: fc.record({ node, call: fc.constant('expireHold' as const), hold }) },
  { weight: 1, arbitrary: fc.record({ node, call: fc.constant('renewHolds' as const) }) },
  { weight: 1, arbitrary: fc.record({ node, call: fc.constant('recordAttempt' as const), attempt }) },
  { weight: 1, arbitrary: fc.record({ node, call: fc.constant('billAttempt' as const), attempt, dollars }) },
  { weight: 1, arbitrary: fc.record({ node, call: fc.constant('compensate' as const), attempt }) },
)

const accidents = ['disk full', 'killed before the commit', 'killed after the commit', 'closed'] as const

const fate: fc.Arbitrary<Wave['fate']> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('answered' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...accidents) },
)

/** Any calls of any number of callers, with repeats, crashes and full disks in between. */
export const histories: fc.Arbitrary<readonly Wave[]> = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 0, HOLD_TTL_MS / 2, HOLD_TTL_MS),
    calls: fc.array(call, { minLength: 1, maxLength: 16, size: 'max' }),
    fate,
  }),
  { minLength: 1, maxLength: 8, size: 'max' },
)
