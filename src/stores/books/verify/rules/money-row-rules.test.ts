import { describe, expect, test } from 'bun:test'
import {
  findingsOfCorrection,
  findingsOfHold,
  type CheckedCorrection,
  type CheckedHold,
} from './money-row-rules.ts'

function textsOf(findings: ReturnType<typeof findingsOfHold>): string {
  return findings.flatMap(({ message }) => message.filter(part => typeof part === 'string')).join('')
}

describe('a hold', () => {
  const open: CheckedHold = {
    id: 1n,
    id_key: 1n,
    id_tail: 2n,
    account_id: 7n,
    amount: 10n,
    state: 'open',
    placing: 'hold',
    resolving: null,
    cost: null,
    is_orphan: 0n,
  }
  const captured: CheckedHold = { ...open, state: 'captured', resolving: 'capture', cost: 4n }

  test.each<[string, CheckedHold]>([
    ['is open', open],
    ['was captured for less than its amount', captured],
    ['was released', { ...open, state: 'released', resolving: 'release' }],
    ['expired', { ...open, state: 'expired', resolving: 'expire' }],
    ['of zero has no operations', { ...open, amount: 0n, placing: null }],
  ])('a hold that %s is sound', (_, row) => {
    expect(findingsOfHold(row)).toEqual([])
  })

  test.each<[string, CheckedHold, string]>([
    [
      'was placed by another operation',
      { ...open, placing: 'charge' },
      'was placed by an operation of the kind',
    ],
    [
      'ended without an operation',
      { ...captured, resolving: null },
      'is captured, but no operation ended it',
    ],
    ['was captured without a charge', { ...captured, cost: null }, 'is captured, but has no charge'],
    ['is open and was charged', { ...open, cost: 4n }, 'is open, but has a charge'],
    ['was charged more than its amount', { ...captured, cost: 11n }, 'but was charged'],
    ['belongs to a job that is missing', { ...open, is_orphan: 1n }, 'but its job is missing'],
  ])('a hold that %s is a problem of its account', (_, row, problem) => {
    const findings = findingsOfHold(row)

    expect(findings.map(({ accountId }) => accountId)).toEqual([7n])
    expect(textsOf(findings)).toContain(problem)
  })
})

describe('a correction', () => {
  const debit: CheckedCorrection = {
    id: 1n,
    id_key: 1n,
    id_tail: 2n,
    account_id: 7n,
    charge_id: null,
    operation: 'debit',
    cost: null,
    refunded: null,
    is_compensated: 0n,
  }
  const refund: CheckedCorrection = { ...debit, charge_id: 5n, operation: 'refund', cost: 9n, refunded: 9n }

  test.each<[string, CheckedCorrection]>([
    ['debit', debit],
    ['refund of the whole charge', refund],
    ['refund that is not the latest one of its charge', { ...refund, refunded: null }],
  ])('a correction that is a %s is sound', (_, row) => {
    expect(findingsOfCorrection(row)).toEqual([])
  })

  test.each<[string, CheckedCorrection, string]>([
    ['has an operation of another kind', { ...debit, operation: 'refund' }, 'has no operation of that kind'],
    ['refunds a charge of another account', { ...refund, cost: null }, 'that the account does not have'],
    ['exceeds its charge with earlier ones', { ...refund, refunded: 10n }, 'add up to'],
    ['refunds a compensated charge', { ...refund, is_compensated: 1n }, 'that was compensated'],
  ])('a correction that %s is a problem', (_, row, problem) => {
    expect(textsOf(findingsOfCorrection(row))).toContain(problem)
  })
})
