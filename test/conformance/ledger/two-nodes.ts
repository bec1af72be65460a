import { describe, expect, test } from 'bun:test'
import { noGuard } from '../../support/no-guard.ts'
import { subtractUsd, usd, ZERO, type NanoUsd } from '../../../src/domain/money.ts'
import { HoldQueue, RETRY_EVERY_MS } from '../../../src/gateway/admission/hold-queue.ts'
import type { Ledger } from '../../../src/gateway/ports/ledger/ledger.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import {
  aBill,
  aCharge,
  aChargeOf,
  aCredit,
  aHold,
  anAttempt,
  anId,
  available,
  hold,
  NOW,
  openWithFunds,
  aTextHold,
} from '../../support/ledger-builders.ts'
import type { OpenOptions, StoreKind } from '../../support/test-store.ts'
import { turn } from '../../support/turn.ts'

const WAITING = { waitMs: 5000, mode: 'hold' } as const

/** What two nodes over one store must do when they work on the same money at the same time. */
export function twoNodesConform(kind: StoreKind): void {
  async function openTwo(funds: NanoUsd, options?: OpenOptions) {
    const { store, other, ...payer } = await openWithFunds(kind, funds, options)
    return { ...payer, nodes: [store, other] as const, ledgers: [store.ledger, other.ledger] as const }
  }

  /** One call on each node at once. */
  function onBoth<T>(ledgers: readonly Ledger[], call: (ledger: Ledger) => Promise<T>): Promise<T[]> {
    return Promise.all(ledgers.map(call))
  }

  describe.each(['text', 'media'] as const)('on two nodes, %s holds', holdKind => {
    test('of holds of two nodes racing for the last dollar, one wins', async () => {
      const { ledger, ledgers, accountId } = await openTwo(usd('1'))

      const outcomes = await onBoth(ledgers, one =>
        one.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') })),
      )

      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['held', 'refused'])
      expect(await available(ledger, accountId)).toBe(ZERO)
    })

    test('of 200 holds at once on a balance for 10, exactly 10 are held, and the books balance', async () => {
      const { ledger, ledgers, accountId, apiKeyId } = await openTwo(usd('10'))
      const request = async (index: number) => {
        const one = ledgers[index % 2]!
        const outcome = await one.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') }))
        if (outcome.outcome === 'held') await one.captureHold(outcome.hold, aChargeOf(holdKind, apiKeyId))
        return outcome.outcome
      }

      const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => request(index)))

      expect(outcomes.filter(outcome => outcome === 'held')).toHaveLength(10)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: ZERO,
        spent: { [holdKind]: usd('10') },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a hold that both capture is charged once, and both get the same outcome', async () => {
      const { ledger, ledgers, accountId, apiKeyId } = await openTwo(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })

      const captured = await onBoth(ledgers, one => one.captureHold(held, aChargeOf(holdKind, apiKeyId)))

      expect(captured).toEqual([
        { cost: usd('1'), shortfall: ZERO },
        { cost: usd('1'), shortfall: ZERO },
      ])
      expect(await available(ledger, accountId)).toBe(usd('2'))
      expect(await ledger.usage(accountId, { limit: 5 })).toHaveLength(1)
    })

    test.each([
      ['captures', 'releases'],
      ['releases', 'captures'],
    ])('if one node %s a hold while the other %s it, it ends once', async first => {
      const { ledger, ledgers, accountId, apiKeyId } = await openTwo(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      const [one, other] = ledgers
      const capture = () => one.captureHold(held, aChargeOf(holdKind, apiKeyId))
      const release = () => other.releaseHold(held, NOW)

      const calls = first === 'captures' ? [capture(), release()] : [release(), capture()]
      const outcomes = await Promise.allSettled(calls)

      const charged = await ledger.usage(accountId, { limit: 5 })
      const isCaptured = outcomes.every(({ status }) => status === 'fulfilled')
      expect(charged).toHaveLength(isCaptured ? 1 : 0)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: subtractUsd(usd('3'), isCaptured ? usd('1') : ZERO),
        held: { text: ZERO, media: ZERO },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('ids that share their first half are different holds and charges', async () => {
      const { ledger, ledgers, accountId, apiKeyId } = await openTwo(usd('5'))
      const { key } = anId()
      const ids = [1n, 2n, -1n].map(tail => ({ key, tail }))

      for (const [index, id] of ids.entries()) {
        const one = ledgers[index % 2]!
        const request = { ...aHold({ accountId, kind: holdKind, amount: usd('1') }), id }
        await one.placeHold(request)
        await one.captureHold(request, aChargeOf(holdKind, apiKeyId))
      }

      expect(await available(ledger, accountId)).toBe(usd('2'))
      const lines = await ledger.usage(accountId, { limit: 5 })
      expect(lines.map(({ id }) => id)).toEqual(ids.toReversed())
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })
  })

  describe('two nodes', () => {
    test('two nodes: credit an account once with one idempotency key', async () => {
      const { ledger, ledgers, accountId } = await openTwo(ZERO)

      const credits = await onBoth(ledgers, one =>
        one.credit({ ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' }),
      )

      expect(credits[0]).toEqual(credits[1])
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('two nodes apply two credits whose ids share their first half', async () => {
      const { ledger, ledgers, accountId } = await openTwo(ZERO)
      const { key } = anId()

      await Promise.all(
        ledgers.map((one, index) =>
          one.credit({ ...aCredit(accountId), id: { key, tail: BigInt(index) }, amount: usd('1') }),
        ),
      )

      expect(await available(ledger, accountId)).toBe(usd('2'))
      expect(await ledger.statement(accountId, { limit: 5 })).toHaveLength(2)
    })

    test('two nodes list every line once, page by page, although ids share their first half', async () => {
      const { ledger, ledgers, accountId, apiKeyId } = await openTwo(usd('9'))
      const { key } = anId()
      const ids = Array.from({ length: 5 }, (_, index) => ({ key, tail: BigInt(5 - index) }))
      for (const [index, id] of ids.entries()) {
        const request = { ...aHold({ accountId, kind: 'text', amount: usd('1') }), id }
        await ledgers[index % 2]!.placeHold(request)
        await ledgers[index % 2]!.captureHold(request, aCharge(apiKeyId))
      }

      const own = await tailsOf(page => ledger.usage(accountId, { limit: 2, ...page }))
      const all = await tailsOf(page => ledger.usage(undefined, { limit: 2, ...page }))
      const statement = await tailsOf(page => ledger.statement(accountId, { limit: 2, ...page }))

      const newestFirst = [1n, 2n, 3n, 4n, 5n]
      expect(own).toEqual(newestFirst)
      // Between nodes, the ids tell the order, and these begin with the same time.
      expect(new Set(all)).toEqual(new Set(newestFirst))
      expect(all).toHaveLength(newestFirst.length)
      expect(statement.slice(0, 5)).toEqual(newestFirst)
    })

    test('two nodes number the operations of an account without gaps', async () => {
      const { ledger, ledgers, accountId } = await openTwo(ZERO)

      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          ledgers[index % 2]!.credit({ ...aCredit(accountId), amount: usd('1') }),
        ),
      )

      const lines = await ledger.statement(accountId, { limit: 50 })
      expect(lines.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index))
    })

    test('two nodes compensate an attempt once', async () => {
      const { nodes, ledger, ledgers, accountId, apiKeyId } = await openTwo(usd('5'))
      const attempt = anAttempt({ accountId, apiKeyId })
      await nodes[0].attempts.record(attempt)
      const billed = await Promise.all(nodes.map(({ attempts }) => attempts.bill(attempt, aBill())))

      const compensated = await onBoth(ledgers, one => one.compensate(attempt, NOW))

      expect(billed.filter(isFirst => isFirst)).toHaveLength(1)
      expect(compensated.filter(({ isFirst }) => isFirst)).toHaveLength(1)
      expect(await available(ledger, accountId)).toBe(usd('5'))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('two nodes keep attempts whose requests share the first half of their ids apart', async () => {
      const { nodes, ledger, accountId, apiKeyId } = await openTwo(usd('5'))
      const first = anAttempt({ accountId, apiKeyId })
      const second = { ...first, requestId: { ...first.requestId, tail: first.requestId.tail + 1n } }
      await nodes[0].attempts.record(first)
      await nodes[1].attempts.record(second)
      await nodes[0].attempts.bill(first, aBill({ tokens: 1 }))
      await nodes[1].attempts.bill(second, aBill({ tokens: 2 }))

      const compensated = [await ledger.compensate(first, NOW), await ledger.compensate(second, NOW)]

      expect(compensated).toEqual([
        { cost: usd('1'), isFirst: true },
        { cost: usd('2'), isFirst: true },
      ])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('two nodes wake a waiting request when the other node frees its money, also if the hint is lost', async () => {
      const clock = fakeClock()
      const { ledgers, accountId } = await openTwo(usd('10'), { clock, dropHintsOf: ['store', 'other'] })
      const [one, other] = ledgers
      const queue = new HoldQueue({ ledger: one, guard: noGuard, clock }, WAITING)
      const running = await hold(other, { accountId, kind: 'text', amount: usd('9') })
      const client = { signal: new AbortController().signal }
      const waiting = queue.place(aTextHold({ accountId, amount: usd('3') }), client)
      while (queue.waiting < 1) await turn()
      await other.releaseHold(running, NOW)

      clock.advance(RETRY_EVERY_MS)

      expect((await waiting).outcome).toBe('held')
    })

    test('two nodes wake their waiting requests, also if the hints of one of them are lost', async () => {
      const clock = fakeClock()
      const { ledgers, accountId } = await openTwo(usd('10'), { clock, dropHintsOf: ['store'] })
      const [without, withHints] = ledgers.map(
        ledger => new HoldQueue({ ledger, guard: noGuard, clock }, WAITING),
      )
      const running = await hold(ledgers[1], { accountId, kind: 'text', amount: usd('9') })
      const client = { signal: new AbortController().signal }
      const late = without!.place(aTextHold({ accountId, amount: usd('3') }), client)
      const early = withHints!.place(aTextHold({ accountId, amount: usd('3') }), client)
      while (without!.waiting + withHints!.waiting < 2) await turn()
      // A request that begins to wait tries once more. Each node answers that before these holds.
      await onBoth(ledgers, one => hold(one, { accountId, kind: 'text', amount: ZERO }))

      await ledgers[1].releaseHold(running, NOW)
      const woken = await early
      const stillWaiting = without!.waiting
      clock.advance(RETRY_EVERY_MS)

      expect([woken.outcome, stillWaiting, (await late).outcome]).toEqual(['held', 1, 'held'])
    })
  })
}

/** The second halves of the ids of all pages in turn. */
async function tailsOf(
  read: (page: { before?: string }) => Promise<readonly { id: { tail: bigint }; cursor: string }[]>,
): Promise<readonly bigint[]> {
  const tails: bigint[] = []
  let page = {}
  for (;;) {
    const lines = await read(page)
    const last = lines.at(-1)
    if (last === undefined) return tails
    tails.push(...lines.map(({ id }) => id.tail))
    page = { before: last.cursor }
  }
}
