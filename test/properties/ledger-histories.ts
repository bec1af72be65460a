import fc from 'fast-check'
import { HOLD_TTL_MS } from '../../src/domain/ledger/hold.ts'

/** Few and small numbers, so that repeats, races and shortages are common. */
export const ACCOUNTS = 2
const HOLDS = 6
const CREDITS = 8
const ATTEMPTS = 4
const CORRECTIONS = 24
const DOLLARS_MAX = 6

/**
 * One call on one of two nodes. `credit`, `hold`, `attempt` and `correction` are numbers of its subject, so that
 * several calls have the same one.
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
  | {
      readonly call: 'debit'
      readonly correction: number
      readonly idempotencyKey: string | undefined
      readonly dollars: number
      readonly allowNegative: boolean
    }
  | {
      readonly call: 'refund'
      readonly correction: number
      readonly idempotencyKey: string | undefined
      readonly dollars: number
      /** The charge of this hold or attempt, if it has one. */
      readonly charge: { readonly hold: number } | { readonly attempt: number }
    }
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
const correction = {
  node,
  correction: fc.nat(CORRECTIONS - 1),
  // Shared by debits and refunds.
  idempotencyKey: fc.constantFrom(undefined, 'fix-1', 'fix-2', 'fix-3'),
  dollars,
}

const debit = fc.record({ ...correction, call: fc.constant('debit' as const), allowNegative: fc.boolean() })

const refund = fc.record({
  ...correction,
  call: fc.constant('refund' as const),
  charge: fc.oneof(
    { weight: 5, arbitrary: fc.record({ hold }) },
    { weight: 1, arbitrary: fc.record({ attempt }) },
  ),
})

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
  { weight: 1, arbitrary: debit },
  { weight: 2, arbitrary: refund },
)

const accidents = ['disk full', 'killed before the commit', 'killed after the commit', 'closed'] as const

const fate: fc.Arbitrary<Wave['fate']> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('answered' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...accidents) },
)

const afterMs = fc.constantFrom(0, 0, HOLD_TTL_MS / 2, HOLD_TTL_MS)

/** Any calls of any number of callers, with repeats, crashes and full disks in between. */
export const histories: fc.Arbitrary<readonly Wave[]> = fc.array(
  fc.record({ afterMs, calls: fc.array(call, { minLength: 1, maxLength: 16, size: 'max' }), fate }),
  { minLength: 1, maxLength: 8, size: 'max' },
)

const CHARGED_HOLDS = [0, 1, 2] as const
/** Each account has its own credits. */
const payers = [0, 1] as const

/** Charges of 3 dollars each: two texts of the first account, and media of the second. */
const charged: readonly Wave[] = [
  payers.map(
    account => ({ call: 'credit', credit: 6 + account, idempotencyKey: undefined, differs: false }) as const,
  ),
  CHARGED_HOLDS.map(
    held => ({ call: 'placeHold', hold: held, account: held % 2, dollars: 3, differs: false }) as const,
  ),
  CHARGED_HOLDS.map(held => ({ call: 'captureHold', hold: held, dollars: 3 }) as const),
].map(calls => ({ afterMs: 0, calls: calls.map(made => ({ node: 0, ...made })), fate: 'answered' }))

const correctionOfCharged = fc.oneof(
  { weight: 1, arbitrary: debit },
  {
    weight: 5,
    arbitrary: fc.record({
      ...correction,
      call: fc.constant('refund' as const),
      dollars: fc.integer({ min: 1, max: 3 }),
      charge: fc.record({ hold: fc.constantFrom(...CHARGED_HOLDS) }),
    }),
  },
)

/** Mostly refunds of the same few charges, so that many exceed what is left of them. */
export const correctionHistories: fc.Arbitrary<readonly Wave[]> = fc
  .array(
    fc.record({
      afterMs: fc.constant(0),
      calls: fc.array(correctionOfCharged, { minLength: 1, maxLength: 8, size: 'max' }),
      fate,
    }),
    { minLength: 1, maxLength: 4, size: 'max' },
  )
  .map(waves => charged.concat(waves))
