import { describe, expect, test } from 'bun:test'
import { formatId } from '../../../src/domain/ids.ts'
import { usd, ZERO } from '../../../src/domain/money.ts'
import {
  aCharge,
  aCredit,
  anAccount,
  anImagesCharge,
  available,
  hold,
  NOW,
  openWithFunds,
} from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** The operations of an account. */
export function statementConforms(kind: StoreKind): void {
  describe('statement', () => {
    test('the statement has every change of the available balance, newest first, with its subject', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('10'))
      const text = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
      await ledger.captureHold(text, aCharge(apiKeyId))
      const captured = await hold(ledger, { accountId, kind: 'media', amount: usd('3') })
      await ledger.captureHold(captured, anImagesCharge(apiKeyId, 2))
      const released = await hold(ledger, { accountId, kind: 'media', amount: usd('4') })
      await ledger.releaseHold(released, NOW)

      const lines = await ledger.statement(accountId, { limit: 10 })

      expect(lines.map(({ kind: name, amount, ref }) => [name, amount, ref])).toEqual([
        ['release', usd('4'), formatId('hold', released.id)],
        ['hold', usd('-4'), formatId('hold', released.id)],
        ['capture', usd('1'), formatId('hold', captured.id)],
        ['hold', usd('-3'), formatId('hold', captured.id)],
        ['charge', usd('-1'), formatId('req', text.id)],
        ['top_up', usd('10'), ''],
      ])
      const sum = lines.reduce((total, line) => total + line.amount, 0n)
      expect(sum).toBe(await available(ledger, accountId))
    })

    test('pages have each line once', async () => {
      const { ledger, store, accountId } = await openWithFunds(kind, usd('1'))
      for (const amount of ['2', '3', '4']) {
        await ledger.credit({ ...aCredit(accountId), amount: usd(amount) })
        await anAccount(store, { funds: usd('9') })
      }

      const first = await ledger.statement(accountId, { limit: 3 })
      const second = await ledger.statement(accountId, { limit: 3, before: first.at(-1)!.cursor })
      const third = await ledger.statement(accountId, { limit: 3, before: second.at(-1)!.cursor })

      expect(first.map(line => line.amount)).toEqual([usd('4'), usd('3'), usd('2')])
      expect(second.map(line => line.amount)).toEqual([usd('1')])
      expect(third).toEqual([])
    })

    test("a cursor of another account's line is refused", async () => {
      const { ledger, store, accountId } = await openWithFunds(kind, usd('1'))
      const other = await anAccount(store, { funds: usd('9') })
      const [line] = await ledger.statement(other.accountId, { limit: 1 })

      const error = await rejection(ledger.statement(accountId, { limit: 3, before: line!.cursor }))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'cursor' } })
    })

    test('a request that cost nothing is not in it', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, ZERO)
      const held = await hold(ledger, { accountId, kind: 'text', amount: ZERO })
      await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 0 }))

      const lines = await ledger.statement(accountId, { limit: 3 })

      expect(lines).toEqual([])
    })
  })
}
