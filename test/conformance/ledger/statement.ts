import { describe, expect, test } from 'bun:test'
import { formatId } from '../../../src/domain/ids.ts'
import { usd, ZERO } from '../../../src/domain/money.ts'
import type { StatementLine, StatementPage } from '../../../src/gateway/ports/ledger/ledger-reports.ts'
import {
  aCharge,
  aCredit,
  aHold,
  anAccount,
  anAudit,
  anImagesCharge,
  available,
  hold,
  NOW,
  openWithFunds,
} from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

const DAY_MS = 86_400_000

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

    describe('of some kinds or of a time', () => {
      /** Requests on twelve days, then none for a month, and then more; grants and holds come between. */
      async function openWithHistory() {
        const { ledger, store, accountId, apiKeyId } = await openWithFunds(kind, usd('100'))
        const other = await anAccount(store, { funds: usd('100') })
        for (const day of [...Array(12).keys(), 42, 43]) {
          const atMs = NOW + day * DAY_MS
          for (const payer of [{ accountId, apiKeyId }, other]) {
            const text = await hold(ledger, { accountId: payer.accountId, kind: 'text', amount: usd('2') })
            await ledger.captureHold(text, aCharge(payer.apiKeyId, { atMs }))
          }
          if (day % 4 === 1)
            await ledger.credit({
              ...aCredit(accountId),
              source: 'promotions',
              amount: usd('3'),
              audit: anAudit({ atMs }),
            })
          const media = aHold({ accountId, kind: 'media', amount: usd('1') })
          const placed = await ledger.placeHold({ ...media, atMs })
          if (placed.outcome === 'held' && day % 3 === 0) await ledger.releaseHold(placed.hold, atMs + 1)
        }
        return { ledger, accountId, whole: await ledger.statement(accountId, { limit: 500 }) }
      }

      const kindChoices = [
        undefined,
        ['grant', 'top_up'],
        ['charge'],
        ['hold', 'grant', 'charge'],
        [],
      ] as const
      const dayChoices = [
        undefined,
        [0, 1],
        [2, 5],
        [3, 3.5],
        [11, 42],
        [20, 30],
        [40, 99],
        [-9, -1],
      ] as const

      test('a statement of some kinds or of a time has exactly these lines, on pages of any size', async () => {
        const { ledger, accountId, whole } = await openWithHistory()

        for (const kinds of kindChoices)
          for (const days of dayChoices) {
            const between = days && { fromMs: NOW + days[0] * DAY_MS, toMs: NOW + days[1] * DAY_MS }
            const chosen = { ...(kinds && { kinds }), ...(between && { between }) }
            const expected = whole.filter(
              line =>
                (kinds === undefined || (kinds as readonly string[]).includes(line.kind)) &&
                (between === undefined || (line.atMs >= between.fromMs && line.atMs < between.toMs)),
            )

            const lines: StatementLine[] = []
            for (let page = await ledger.statement(accountId, { ...chosen, limit: 3 }); page.length > 0;) {
              lines.push(...page)
              page = await ledger.statement(accountId, { ...chosen, limit: 7, before: page.at(-1)!.cursor })
            }

            expect(lines).toEqual(expected)
          }
      })

      test('a cursor of the whole statement also continues a selection', async () => {
        const { ledger, accountId, whole } = await openWithHistory()
        const { cursor, number } = whole[9]!

        const after = (page: Omit<StatementPage, 'limit' | 'before'>) =>
          ledger.statement(accountId, { ...page, limit: 500, before: cursor })

        const older = whole.filter(line => line.number < number)
        const ofDays = { fromMs: NOW + 3 * DAY_MS, toMs: NOW + 99 * DAY_MS }
        expect(await after({ kinds: ['grant'] })).toEqual(older.filter(line => line.kind === 'grant'))
        expect(await after({ between: ofDays })).toEqual(older.filter(({ atMs }) => atMs >= ofDays.fromMs))
        expect(older.length).toBeGreaterThan(20)
      })

      test('a clock that was set back by less than an hour hides no line of a time', async () => {
        const { ledger, accountId } = await openWithFunds(kind, ZERO)
        const grant = (atMs: number) =>
          ledger.credit({ ...aCredit(accountId), amount: usd('1'), audit: anAudit({ atMs }) })
        await grant(NOW + DAY_MS)
        // More lines than are read in one turn.
        await Promise.all(Array.from({ length: 120 }, () => grant(NOW + DAY_MS - 3_000_000)))
        await grant(NOW + DAY_MS + 1000)

        const between = { fromMs: NOW + DAY_MS, toMs: NOW + 2 * DAY_MS }
        const lines = await ledger.statement(accountId, { limit: 9, between })

        expect(lines.map(({ atMs }) => atMs - NOW - DAY_MS)).toEqual([1000, 0])
      })
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
