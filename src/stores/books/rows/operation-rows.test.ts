import { expect, test } from 'bun:test'
import { NO_BALANCES } from '../../../domain/ledger/books.ts'
import { post, type Movement } from '../../../domain/ledger/post.ts'
import { nanoUsd, ZERO } from '../../../domain/money.ts'
import {
  addOperation,
  operationIdOf,
  operationRow,
  type Operation,
  type StagedBooks,
} from './operation-rows.ts'

function aStage(): StagedBooks {
  return {
    balances: { ...NO_BALANCES, available: nanoUsd(100n), 'held.media': nanoUsd(30n) },
    bookedLosses: ZERO,
    operationCount: 4,
    latestOperationId: 40n,
    latestChargeId: null,
    isClosed: false,
    alert: null,
  }
}

function anOperation(kind: Operation['kind'], movements: readonly Movement[]): Operation {
  return { kind, subject: { key: 1n, tail: 2n }, movements, atMs: 5 }
}

test('an operation follows the latest one of its account and names each balance after it', () => {
  const current = aStage()
  const operation = anOperation('capture', [
    { from: 'held.media', to: 'revenue.media', amount: nanoUsd(20n) },
    { from: 'held.media', to: 'available', amount: nanoUsd(10n) },
  ])

  const row = operationRow({ accountId: 7, current }, operation, post(current.balances, operation.movements))

  expect(row).toMatchObject({ account_id: 7, number: 5, previous_id: 40n, amount: nanoUsd(10n) })
  expect(row).toMatchObject({ book_1: 'held.media', amount_1: nanoUsd(-30n), balance_after_1: ZERO })
  expect(row).toMatchObject({ book_3: 'available', amount_3: nanoUsd(10n), balance_after_3: nanoUsd(110n) })
})

test('an operation that moves nothing has no row and no row id', () => {
  const current = aStage()
  const movements = [{ from: 'available', to: 'held.media', amount: ZERO }] as const

  const row = operationRow(
    { accountId: 7, current },
    anOperation('hold', movements),
    post(current.balances, movements),
  )

  expect([row, operationIdOf(movements, 41n)]).toEqual([null, null])
})

test('an operation that touches four books is refused, because its row has room for three', () => {
  const current = aStage()
  const operation = anOperation('capture', [
    { from: 'available', to: 'revenue.text', amount: nanoUsd(1n) },
    { from: 'held.media', to: 'revenue.media', amount: nanoUsd(1n) },
  ])

  expect(() =>
    operationRow({ accountId: 7, current }, operation, post(current.balances, operation.movements)),
  ).toThrow('touches 4 books')
})

test('a loss is added to the booked losses of the account, and no other operation is', () => {
  const books = aStage()
  const movements = [{ from: 'losses', to: 'revenue.media', amount: nanoUsd(6n) }] as const
  const entries = post(books.balances, movements)

  addOperation(books, 41n, 'loss', entries)
  addOperation(books, 42n, 'capture', [])

  expect(books).toMatchObject({ bookedLosses: nanoUsd(6n), operationCount: 6, latestOperationId: 42n })
  expect(books.balances['revenue.media']).toBe(nanoUsd(6n))
})
