import { expect, test } from 'bun:test'
import { NO_BALANCES } from '../../../domain/ledger/books.ts'
import { nanoUsd, ZERO } from '../../../domain/money.ts'
import { AccountBooks } from './account-books.ts'
import { TextHold, OpenTextHolds } from './text-holds.ts'

const books = () =>
  new AccountBooks(
    1,
    {
      balances: NO_BALANCES,
      bookedLosses: ZERO,
      operationCount: 0,
      latestOperationId: null,
      latestChargeId: null,
      isClosed: false,
      alert: null,
    },
    { changed: [], operations: { nextId: 1n } },
  )

const aHoldOf = (id: TextHold['id'], of = books()) =>
  new TextHold(
    { id, accountId: 1, kind: 'text', amount: nanoUsd(3n) },
    { books: of, owner: 1n, demand: undefined, expiresAtMs: 0 },
  )

/** The hold as a caller has it that did not place it. */
const named = ({ id, accountId }: TextHold) => ({ id, accountId })

test('an open hold is found by its id until it is removed, and its account counts it', () => {
  const open = new OpenTextHolds()
  const hold = aHoldOf({ key: 7n, tail: -1n })

  open.add(hold)
  const during = [open.find(hold), open.find(named(hold)), open.sum(), hold.books.heldText]
  open.remove(hold)
  const after = [open.find(hold), open.find(named(hold)), open.sum(), hold.books.heldText]

  expect(during).toEqual([hold, hold, nanoUsd(3n), nanoUsd(3n)])
  expect(after).toEqual([undefined, undefined, ZERO, ZERO])
})

test.each([
  [
    { key: 7n, tail: 1n },
    { key: 7n, tail: 2n },
  ],
  [
    { key: 7n, tail: 1n },
    { key: 8n, tail: 1n },
  ],
  [
    { key: 7n, tail: -1n },
    { key: 8n, tail: -1n },
  ],
])('ids that share a half are different holds: %p and %p', (one, other) => {
  const open = new OpenTextHolds()
  const [first, second] = [aHoldOf(one), aHoldOf(other)]
  open.add(first)
  open.add(second)

  open.remove(first)

  expect([open.find(named(first)), open.find(named(second))]).toEqual([undefined, second])
  expect(open.sum()).toBe(nanoUsd(3n))
})

test('a hold of other books with the same id is not found', () => {
  const [open, others] = [new OpenTextHolds(), new OpenTextHolds()]
  const hold = aHoldOf({ key: 7n, tail: 1n })

  others.add(hold)

  expect([open.find(hold), others.find(hold)]).toEqual([undefined, hold])
})

test('an expired hold is found and counts nothing', () => {
  const open = new OpenTextHolds()
  const hold = aHoldOf({ key: 7n, tail: 1n })
  open.add(hold)

  open.expire(hold)
  const during = [open.find(hold), open.sum(), hold.books.heldText, hold.books.isInUse]
  open.remove(hold)

  expect(during).toEqual([hold, ZERO, ZERO, true])
  expect([open.find(hold), hold.books.heldText, hold.books.isInUse]).toEqual([undefined, ZERO, false])
})
