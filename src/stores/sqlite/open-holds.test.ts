import { expect, test } from 'bun:test'
import { nanoUsd, ZERO } from '../../domain/money.ts'
import { NO_BALANCES } from '../../domain/ledger/books.ts'
import { OpenHold, OpenHolds } from './open-holds.ts'

const books = {
  accountId: 1,
  committed: { balances: NO_BALANCES, latestOperationId: null, latestChargeId: null },
  staged: null,
  heldInMemory: ZERO,
  holdsInMemory: 0,
}

const aHoldOf = (key: bigint) =>
  new OpenHold({ id: { key, tail: 0n }, accountId: 1, kind: 'text', amount: nanoUsd(1n) }, books)

test('of thousands of open holds, each is found until it is removed', () => {
  const open = new OpenHolds()
  // Some of one millisecond, some of one sequence number.
  const all = Array.from({ length: 10_000 }, (_, index) =>
    aHoldOf(BigInt(index % 100) + (BigInt(index) << 16n)),
  )
  for (const hold of all) open.add(hold)
  const isKept = (_: unknown, index: number) => index % 3 !== 0

  for (const [index, hold] of all.entries()) if (!isKept(hold, index)) open.remove(hold)

  const found = all.map(({ id }) => open.find(id.key))
  expect(found.map(hold => hold !== undefined)).toEqual(all.map(isKept))
  expect(found.filter(hold => hold !== undefined)).toEqual(all.filter(isKept))
  expect(open.size).toBe(6666)
  expect(open.sum()).toBe(nanoUsd(6666n))
})
