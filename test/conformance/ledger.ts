import { describe, expect, test } from 'bun:test'
import { formatId } from '../../src/domain/ids.ts'
import { CREDITED_MAX } from '../../src/domain/ledger/credit.ts'
import { subtractUsd, usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import type { HoldKind } from '../../src/domain/ledger/books.ts'
import type { Charge, Hold, HoldOutcome } from '../../src/gateway/ports/ledger.ts'
import {
  aCharge,
  anAccount,
  anAudit,
  anId,
  rejection,
  type StoreKind,
  type TestStore,
} from '../support/test-store.ts'

const NOW = 1_800_000_000_000

/** What any ledger must do. Run by stores/sqlite/ledger.test.ts, and by each store to come. */
export function ledgerConforms(kind: StoreKind): void {
  describe('credits', () => {
    test.each([
      ['cash', 'top_up'],
      ['promotions', 'grant'],
    ] as const)(
      'money from %s can be spent at once, and stands in the statement as %s',
      async (source, name) => {
        const { ledger, accountId } = await openWith(ZERO)

        const credit = await ledger.credit({
          ...aCredit(accountId),
          amount: usd('2'),
          source,
          note: 'welcome',
        })

        expect(credit).toMatchObject({ amount: usd('2'), available: usd('2') })
        expect(await ledger.balance(accountId)).toMatchObject({ available: usd('2'), credited: usd('2') })
        expect(await ledger.statement(accountId, { limit: 10 })).toMatchObject([
          { id: credit.id, kind: name, amount: usd('2'), note: 'welcome', ref: '' },
        ])
      },
    )

    test('a credit with the id of an earlier one is that one', async () => {
      const { ledger, accountId } = await openWith(ZERO)
      const request = { ...aCredit(accountId), amount: usd('1') }
      const first = await ledger.credit(request)
      await ledger.credit({ ...aCredit(accountId), amount: usd('5') })

      const second = await ledger.credit(request)

      expect(second).toEqual(first)
      expect(await available(ledger, accountId)).toBe(usd('6'))
    })

    test('of 100 credits with one idempotency key, one counts, and all are told of it', async () => {
      const { ledger, accountId } = await openWith(ZERO)
      const redeem = () =>
        ledger.credit({ ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' })

      const credits = await Promise.all(Array.from({ length: 100 }, redeem))

      expect(new Set(credits.map(credit => credit.id.key)).size).toBe(1)
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('an idempotency key belongs to one account', async () => {
      const { ledger, store, accountId } = await openWith(ZERO)
      const other = await anAccount(store)
      await ledger.credit({ ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' })

      await ledger.credit({ ...aCredit(other.accountId), amount: usd('2'), idempotencyKey: 'code-1' })

      expect(await available(ledger, other.accountId)).toBe(usd('2'))
    })

    test.each([
      ['amount', { amount: usd('2') }],
      ['source', { source: 'promotions' }],
    ] as const)('an idempotency key with another %s is refused and moves nothing', async (_, change) => {
      const { ledger, accountId } = await openWith(ZERO)
      const request = { ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' }
      await ledger.credit(request)

      const error = await rejection(ledger.credit({ ...request, ...change, id: anId() }))

      expect(error).toMatchObject({ code: 'idempotency_key_reuse' })
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('an id with another amount is refused and moves nothing', async () => {
      const { ledger, accountId } = await openWith(ZERO)
      const request = { ...aCredit(accountId), amount: usd('1') }
      await ledger.credit(request)

      const error = await rejection(ledger.credit({ ...request, amount: usd('2') }))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('more than the books can hold is refused and moves nothing', async () => {
      const { ledger, accountId } = await openWith(usd('1'))

      const error = await rejection(ledger.credit({ ...aCredit(accountId), amount: CREDITED_MAX }))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'amount_usd' } })
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('each credit is in the audit log once, however often it is repeated', async () => {
      const { ledger, store, accountId } = await openWith(ZERO)
      const audit = anAudit({ action: 'account.grant', subject: 'acct_1' })
      const request = { ...aCredit(accountId), amount: usd('1'), audit }
      await ledger.credit(request)
      await ledger.credit(request)

      const lines = await store.auditLog.list({ limit: 10 })

      expect(lines.filter(line => line.action === 'account.grant')).toMatchObject([audit])
    })
  })

  describe.each(['text', 'media'] as const)('%s holds', holdKind => {
    test('a hold takes its money out of what is available, and stands under its own kind', async () => {
      const { ledger, accountId } = await openWith(usd('3'))

      const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') }))

      expect(outcome).toMatchObject({
        outcome: 'held',
        hold: { accountId, kind: holdKind, amount: usd('1') },
      })
      expect(await ledger.balance(accountId)).toEqual({
        available: usd('2'),
        held: { text: ZERO, media: ZERO, [holdKind]: usd('1') },
        spent: { text: ZERO, media: ZERO },
        credited: usd('3'),
      })
    })

    test('a hold above what is available is refused with what there is, and leaves no trace', async () => {
      const { ledger, accountId } = await openWith(usd('3'))
      await hold(ledger, { accountId, kind: 'text', amount: usd('0.5') })
      await hold(ledger, { accountId, kind: 'media', amount: usd('1') })
      const before = await ledger.balance(accountId)

      const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1.500000001') }))

      expect(outcome).toEqual({ outcome: 'refused', available: usd('1.5'), held: usd('1.5') })
      expect(await ledger.balance(accountId)).toEqual(before)
    })

    test('of two holds racing for the last dollar, one wins', async () => {
      const { ledger, accountId } = await openWith(usd('1'))
      const place = () => ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') }))

      const outcomes = await Promise.all([place(), place()])

      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'refused'])
      expect(await available(ledger, accountId)).toBe(ZERO)
    })

    test('of 200 requests at once on a balance for 10, exactly 10 are held, and the books balance', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('10'))
      const request = async () => {
        const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') }))
        if (outcome.outcome === 'held') await ledger.captureHold(outcome.hold, aCharge(apiKeyId))
        return outcome.outcome
      }

      const outcomes = await Promise.all(Array.from({ length: 200 }, request))

      expect(outcomes.filter(outcome => outcome === 'held')).toHaveLength(10)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: ZERO,
        spent: { [holdKind]: usd('10') },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('placing a hold again while it is open changes nothing', async () => {
      const { ledger, accountId } = await openWith(usd('1'))
      const request = aHold({ accountId, kind: holdKind, amount: usd('1') })
      const first = await ledger.placeHold(request)

      const second = await ledger.placeHold(request)

      expect(second).toEqual(first)
      expect(await available(ledger, accountId)).toBe(ZERO)
    })

    test('the id of an open hold with another amount is refused and changes nothing', async () => {
      const { ledger, accountId } = await openWith(usd('3'))
      const request = aHold({ accountId, kind: holdKind, amount: usd('1') })
      await ledger.placeHold(request)

      const error = await rejection(ledger.placeHold({ ...request, amount: usd('2') }))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('2'))
    })

    test('a hold of nothing needs no money', async () => {
      const { ledger, accountId } = await openWith(ZERO)

      const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: ZERO }))

      expect(outcome.outcome).toBe('held')
    })

    test('a negative hold is refused', async () => {
      const { ledger, accountId } = await openWith(ZERO)

      const error = await rejection(ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('-1') })))

      expect(error).toBeInstanceOf(RangeError)
    })

    test('a hold for an account that does not exist is refused', async () => {
      const { ledger, accountId } = await openWith(ZERO)

      const error = await rejection(
        ledger.placeHold(aHold({ accountId: accountId + 1, kind: holdKind, amount: ZERO })),
      )

      expect(error).toBeInstanceOf(RangeError)
    })

    test.each([
      ['all of', 4],
      ['part of', 1],
      ['nothing of', 0],
    ])('a capture takes %s its hold and frees the rest', async (_, tokens) => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('5'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('4') })
      const cost = usd(String(tokens))

      const captured = await ledger.captureHold(held, aCharge(apiKeyId, { tokens }))

      expect(captured).toEqual({ cost, shortfall: ZERO })
      expect(await ledger.balance(accountId)).toMatchObject({
        available: subtractUsd(usd('5'), cost),
        held: { text: ZERO, media: ZERO },
        spent: { text: ZERO, media: ZERO, [holdKind]: cost },
      })
      expect(await ledger.usage(accountId, { limit: 10 })).toMatchObject([{ id: held.id, cost }])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('of 100 captures of one hold, one charges, and all are told of it', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      const capture = () => ledger.captureHold(held, aCharge(apiKeyId))

      const early = await Promise.all(Array.from({ length: 99 }, capture))
      const late = await capture()

      expect(new Set([...early, late].map(captured => captured.cost))).toEqual(new Set([usd('1')]))
      expect(await available(ledger, accountId)).toBe(usd('2'))
    })

    test('a second capture with another cost is refused and changes nothing', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      await ledger.captureHold(held, aCharge(apiKeyId))

      const error = await rejection(ledger.captureHold(held, aCharge(apiKeyId, { tokens: 2 })))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('2'))
    })

    test('a negative cost never credits: it is refused, and the hold stays', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })

      const error = await rejection(ledger.captureHold(held, aCharge(apiKeyId, { cost: usd('-1') })))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('of 100 releases of one hold, one frees it', async () => {
      const { ledger, accountId } = await openWith(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })

      await Promise.all(Array.from({ length: 100 }, () => ledger.releaseHold(held, NOW)))

      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('3'),
        held: { text: ZERO, media: ZERO },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a hold that was released cannot be captured', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      await ledger.releaseHold(held, NOW)

      const error = await rejection(ledger.captureHold(held, aCharge(apiKeyId)))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('3'))
    })

    test('a hold that was never placed cannot be captured, and releasing it changes nothing', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('3'))
      const never = { id: anId(), accountId, kind: holdKind, amount: usd('1') }

      await ledger.releaseHold(never, NOW)
      const error = await rejection(ledger.captureHold(never, aCharge(apiKeyId)))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('3'))
    })

    test('releasing a hold while its capture is on the way does not undo the capture', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })

      const [captured] = await Promise.all([
        ledger.captureHold(held, aCharge(apiKeyId)),
        ledger.releaseHold(held, NOW),
      ])
      await ledger.releaseHold(held, NOW)

      expect(captured.cost).toBe(usd('1'))
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('2'),
        held: { text: ZERO, media: ZERO },
      })
    })

    test('the money of a hold that is captured is never free in between', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('1'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('1') })

      const capturing = ledger.captureHold(held, aCharge(apiKeyId))
      const racing = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('0.1') }))
      await capturing
      const later = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('0.1') }))

      expect([racing.outcome, later.outcome]).toEqual(['refused', 'refused'])
    })
  })

  describe('text', () => {
    test('a cost above its hold takes the shortfall from what is available, below zero and no further', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('2'))
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('1.5') })

      const captured = await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 3 }))

      expect(captured).toEqual({ cost: usd('3'), shortfall: usd('1.5') })
      expect(await available(ledger, accountId)).toBe(usd('-1'))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('an account below zero can hold nothing but nothing', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(ZERO)
      await ledger.captureHold(
        await hold(ledger, { accountId, kind: 'text', amount: ZERO }),
        aCharge(apiKeyId),
      )

      const some = await ledger.placeHold(aHold({ accountId, kind: 'text', amount: usd('0.000000001') }))
      const none = await ledger.placeHold(aHold({ accountId, kind: 'text', amount: ZERO }))

      expect(some).toEqual({ outcome: 'refused', available: usd('-1'), held: ZERO })
      expect(none.outcome).toBe('held')
    })
  })

  describe('media', () => {
    test('a cost above its hold is refused, and the hold stays', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('5'))
      const held = await hold(ledger, { accountId, kind: 'media', amount: usd('1') })

      const error = await rejection(ledger.captureHold(held, aCharge(apiKeyId, { tokens: 2 })))

      expect(error).toBeInstanceOf(RangeError)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('4'),
        held: { media: usd('1') },
      })
    })

    test('a hold that has ended cannot be placed again', async () => {
      const { ledger, accountId } = await openWith(usd('5'))
      const request = aHold({ accountId, kind: 'media', amount: usd('1') })
      await ledger.placeHold(request)
      await ledger.releaseHold(request, NOW)

      const error = await rejection(ledger.placeHold(request))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('5'))
    })
  })

  describe('a new process', () => {
    test('has every charge and credit that was answered, and answers repeats of them as before', async () => {
      const { store, reopen, accountId, apiKeyId } = await openWith(usd('5'))
      const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })
      const credit = { ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' }
      const first = await store.ledger.credit(credit)
      await store.ledger.captureHold(held, aCharge(apiKeyId, { tokens: 3 }))

      const { ledger } = await reopen()

      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('3'),
        spent: { text: usd('3') },
      })
      expect(await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 3 }))).toEqual({
        cost: usd('3'),
        shortfall: usd('1'),
      })
      expect(await ledger.credit({ ...credit, id: anId() })).toEqual(first)
      expect(await available(ledger, accountId)).toBe(usd('3'))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('has every media hold, and can end it', async () => {
      const { store, reopen, accountId, apiKeyId } = await openWith(usd('5'))
      const captured = await hold(store.ledger, { accountId, kind: 'media', amount: usd('2') })
      const released = await hold(store.ledger, { accountId, kind: 'media', amount: usd('1') })

      const { ledger } = await reopen()
      const before = await ledger.balance(accountId)
      await ledger.captureHold(captured, aCharge(apiKeyId))
      await ledger.releaseHold(released, NOW)

      expect(before).toMatchObject({ available: usd('2'), held: { media: usd('3') } })
      expect(await ledger.balance(accountId)).toMatchObject({ available: usd('4'), held: { media: ZERO } })
    })

    test(`has ${kind.textHolds === 'volatile' ? 'no' : 'every'} text hold of the one before`, async () => {
      const { store, reopen, accountId } = await openWith(usd('5'))
      await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })

      const { ledger } = await reopen()

      const held = kind.textHolds === 'volatile' ? ZERO : usd('2')
      expect(await ledger.balance(accountId)).toMatchObject({
        available: subtractUsd(usd('5'), held),
        held: { text: held },
      })
    })
  })

  describe('statement', () => {
    test('tells every movement of the available balance, newest first, and what it belongs to', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('10'))
      const text = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
      await ledger.captureHold(text, aCharge(apiKeyId))
      const captured = await hold(ledger, { accountId, kind: 'media', amount: usd('3') })
      await ledger.captureHold(captured, aCharge(apiKeyId, { tokens: 2 }))
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

    test('pages hold each line once', async () => {
      const { ledger, store, accountId } = await openWith(usd('1'))
      for (const amount of ['2', '3', '4']) {
        await ledger.credit({ ...aCredit(accountId), amount: usd(amount) })
        await anAccount(store, { funds: usd('9') })
      }

      const first = await ledger.statement(accountId, { limit: 3 })
      const second = await ledger.statement(accountId, { limit: 3, before: first.at(-1)!.position })
      const third = await ledger.statement(accountId, { limit: 3, before: second.at(-1)!.position })

      expect(first.map(line => line.amount)).toEqual([usd('4'), usd('3'), usd('2')])
      expect(second.map(line => line.amount)).toEqual([usd('1')])
      expect(third).toEqual([])
    })

    test("a page behind another account's line is empty", async () => {
      const { ledger, store, accountId } = await openWith(usd('1'))
      const other = await anAccount(store, { funds: usd('9') })
      const [line] = await ledger.statement(other.accountId, { limit: 1 })

      const lines = await ledger.statement(accountId, { limit: 3, before: line!.position })

      expect(lines).toEqual([])
    })

    test('a request that cost nothing moves nothing and is not in it', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(ZERO)
      const held = await hold(ledger, { accountId, kind: 'text', amount: ZERO })
      await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 0 }))

      const lines = await ledger.statement(accountId, { limit: 3 })

      expect(lines).toEqual([])
    })
  })

  describe('usage', () => {
    test('tells each charge as it was made, with its frozen tariff', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('100'))
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
      const charge: Charge = {
        cost: usd('0.000092'),
        route: 'chat',
        apiKeyId,
        model: 'gpt-x',
        provider: 'main',
        usage: { ...NO_USAGE, input: 10, cachedInput: 20, output: 30, reasoning: 4 },
        provenance: 'estimated',
        isClamped: true,
        tariff: { input: usd('1'), output: usd('2'), cachedInput: usd('0.5'), perRequest: usd('0.000004') },
        atMs: NOW,
      }
      await ledger.captureHold(held, charge)

      const lines = await ledger.usage(accountId, { limit: 10 })

      expect(lines).toEqual([{ ...charge, id: held.id, accountId }])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('knows free requests and those at the upstream’s own cost, which have no tariff', async () => {
      const { ledger, accountId, apiKeyId } = await openWith(usd('1'))
      const free = await hold(ledger, { accountId, kind: 'text', amount: ZERO })
      await ledger.captureHold(free, aCharge(apiKeyId, { tariff: null, tokens: 7 }))
      const passedOn = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
      await ledger.captureHold(passedOn, aCharge(apiKeyId, { tariff: null, cost: usd('0.3') }))

      const lines = await ledger.usage(accountId, { limit: 10 })

      expect(lines).toMatchObject([
        { id: passedOn.id, cost: usd('0.3'), tariff: null },
        { id: free.id, cost: ZERO, tariff: null, usage: { input: 7 } },
      ])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('pages of one account and of all hold each charge once, newest first', async () => {
      const { ledger, store, accountId, apiKeyId } = await openWith(usd('9'))
      const other = await anAccount(store, { funds: usd('9') })
      const mine = { accountId, apiKeyId }
      const charged: { readonly accountId: number; readonly key: bigint }[] = []
      for (const payer of [mine, other, mine, mine]) {
        const held = await hold(ledger, { accountId: payer.accountId, kind: 'text', amount: usd('1') })
        await ledger.captureHold(held, aCharge(payer.apiKeyId))
        charged.unshift({ accountId: payer.accountId, key: held.id.key })
      }

      const own = await readPages(before => ledger.usage(accountId, { limit: 2, ...before }))
      const all = await readPages(before => ledger.usage(undefined, { limit: 2, ...before }))

      expect(own).toEqual(charged.filter(charge => charge.accountId === accountId).map(({ key }) => key))
      expect(all).toEqual(charged.map(({ key }) => key))
    })
  })

  async function openWith(funds: NanoUsd) {
    const { store, reopen } = await kind.open()
    const account = await anAccount(store, { funds })
    return { store, reopen, ledger: store.ledger, ...account }
  }
}

type Ledger = TestStore['ledger']

function aCredit(accountId: number) {
  return { id: anId(), accountId, source: 'cash', audit: anAudit() } as const
}

function aHold(terms: { readonly accountId: number; readonly kind: HoldKind; readonly amount: NanoUsd }) {
  return { id: anId(), atMs: NOW, ...terms }
}

/** Places a hold that must not be refused. */
async function hold(ledger: Ledger, terms: Parameters<typeof aHold>[0]): Promise<Hold> {
  const outcome: HoldOutcome = await ledger.placeHold(aHold(terms))
  if (outcome.outcome === 'refused') throw new Error(`The hold of ${terms.amount} was refused.`)
  return outcome.hold
}

async function available(ledger: Ledger, accountId: number): Promise<NanoUsd> {
  return (await ledger.balance(accountId)).available
}

/** The id keys of all pages in turn. */
async function readPages(
  read: (page: { before?: bigint }) => ReturnType<Ledger['usage']>,
): Promise<readonly bigint[]> {
  const keys: bigint[] = []
  for (;;) {
    const last = keys.at(-1)
    const lines = await read(last === undefined ? {} : { before: last })
    if (lines.length === 0) return keys
    keys.push(...lines.map(line => line.id.key))
  }
}
