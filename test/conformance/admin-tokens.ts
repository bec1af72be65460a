import { describe, expect, test } from 'bun:test'
import { usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import type { NewAdminToken } from '../../src/gateway/ports/access/admin-tokens.ts'
import { at } from '../support/account-builders.ts'
import { aCredit, anAudit, anId, available, NOW, openWithFunds } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind } from '../support/test-store.ts'

const DAY_MS = 86_400_000
const TODAY = Math.floor(NOW / DAY_MS)

/** What the admin tokens of any store must do. */
export function adminTokensConform(kind: StoreKind): void {
  describe('admin tokens', () => {
    test('a token is found by its id, its hash, its first characters and its name, and after a restart', async () => {
      const { store, reopen } = await kind.open()
      const hash = aHash()

      const token = await store.adminTokens.create(
        aToken({
          name: 'bookkeeper',
          hash,
          scopes: ['read', 'grants'],
          grantsPerDay: usd('50'),
          expiresAtMs: NOW + 9,
        }),
      )

      expect(token).toEqual({
        id: expect.any(Number),
        publicId: expect.stringMatching(/^tok_/),
        name: 'bookkeeper',
        prefix: 'tg_admin_abcd',
        scopes: ['read', 'grants'],
        grantsPerDay: usd('50'),
        expiresAtMs: NOW + 9,
        createdBy: 'test',
        createdAtMs: NOW,
        lastUsedDay: null,
        revokedAtMs: null,
      })
      const { publicId, prefix, name } = token
      const { adminTokens } = await reopen()
      for (const by of [{ publicId }, { hash }, { prefix }, { name }])
        expect(await adminTokens.find(by)).toEqual([token])
      expect(await adminTokens.find({ hash: aHash() })).toEqual([])
    })

    test('of two tokens that are created at once with one name, one is created', async () => {
      const { store } = await kind.open()

      const outcomes = await Promise.allSettled(
        [1, 2].map(() => store.adminTokens.create(aToken({ name: 'ci' }))),
      )

      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
      expect(outcomes[1]).toHaveProperty('reason.code', 'already_exists')
    })

    test('the name of a revoked token can be given again, and the latest token of a name comes first', async () => {
      const { store } = await kind.open()
      const first = await store.adminTokens.create(aToken({ name: 'ci' }))
      const revoked = await store.adminTokens.revoke(first.publicId, at(NOW + 1))

      const second = await store.adminTokens.create(aToken({ name: 'ci' }))

      expect(await store.adminTokens.find({ name: 'ci' })).toEqual([second, revoked])
    })

    test('tokens are listed in the order of their creation, page by page', async () => {
      const { store } = await kind.open()
      for (const name of ['c', 'a', 'b']) await store.adminTokens.create(aToken({ name }))

      const first = await store.adminTokens.list({ limit: 2 })
      const rest = await store.adminTokens.list({ limit: 2, cursor: first.next! })

      expect([first, rest].map(({ tokens }) => tokens.map(({ name }) => name))).toEqual([['c', 'a'], ['b']])
      expect(rest.next).toBeUndefined()
      const error = await rejection(store.adminTokens.list({ limit: 2, cursor: 'tok_1' }))
      expect(error).toMatchObject({ code: 'invalid_field' })
    })

    test('a revoked token is revoked at once on every node, and revoking it again changes nothing', async () => {
      const { store, other } = await kind.open()
      const { publicId } = await store.adminTokens.create(aToken())

      const first = await store.adminTokens.revoke(publicId, at(NOW + 1))
      const again = await store.adminTokens.revoke(publicId, at(NOW + 2))

      expect(first.revokedAtMs).toBe(NOW + 1)
      expect(again).toEqual(first)
      expect(await other.adminTokens.find({ publicId })).toEqual([first])
      expect(await rejection(store.adminTokens.revoke('tok_none', at(NOW)))).toBeInstanceOf(RangeError)
      const lines = await store.auditLog.list({ limit: 9 })
      expect(lines.map(({ action }) => action)).toEqual(['token.revoke', 'token.create'])
    })

    test('the day of the last use of a token is kept, and never goes back', async () => {
      const { store } = await kind.open()
      const { publicId, ...token } = await store.adminTokens.create(aToken())
      const used = async (atMs: number) => {
        const [read] = await store.adminTokens.find({ publicId })
        store.adminTokens.noteUse(read!, atMs)
        // A node writes in order, so the day is written before this line.
        await store.auditLog.record(anAudit())
        return (await store.adminTokens.find({ publicId }))[0]?.lastUsedDay
      }

      expect(token.lastUsedDay).toBeNull()
      expect(await used(NOW)).toBe(TODAY)
      expect(await used(NOW + DAY_MS)).toBe(TODAY + 1)
      expect(await used(NOW)).toBe(TODAY + 1)
    })
  })

  describe('the grants of a token', () => {
    test('grants add up to at most the amount of a day, and the next day starts with nothing', async () => {
      const { store, allowance, grant } = await openWithToken(kind, usd('50'))
      await grant('30')
      await grant('20')

      const refused = await rejection(grant('0.000000001'))
      const tomorrow = await grant('50', { atMs: NOW + DAY_MS })

      expect(refused).toMatchObject({ code: 'grants_per_day_exceeded' })
      expect(tomorrow.available).toBe(usd('100'))
      expect(await store.adminTokens.latestGrants(allowance.id)).toEqual({
        day: TODAY + 1,
        granted: usd('50'),
      })
      expect((await store.ledger.verify()).problems).toEqual([])
    })

    test('of 40 grants on two nodes that race for the money of ten, ten are given', async () => {
      const { store, other, accountId, allowance } = await openWithToken(kind, usd('10'))
      const nodes = [store, other]

      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, index) =>
          nodes[index % 2]!.ledger.credit({
            ...aGrant(accountId),
            amount: usd('1'),
            allowance,
            idempotencyKey: `race-${index}`,
          }),
        ),
      )

      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
      expect(await available(store.ledger, accountId)).toBe(usd('10'))
    })

    test('what was granted before a restart counts after it', async () => {
      const { grant, reopen, accountId, allowance } = await openWithToken(kind, usd('50'))
      await grant('40')

      const { ledger } = await reopen()
      const refused = await rejection(ledger.credit({ ...aGrant(accountId), amount: usd('11'), allowance }))

      expect(refused).toMatchObject({ code: 'grants_per_day_exceeded' })
      expect(await available(ledger, accountId)).toBe(usd('40'))
    })

    test('a repeated grant is not counted again, even when nothing is left', async () => {
      const { store, grant, allowance } = await openWithToken(kind, usd('50'))
      const first = await grant('50', { idempotencyKey: 'welcome' })

      const second = await grant('50', { idempotencyKey: 'welcome' })

      expect(second).toEqual(first)
      expect(await store.adminTokens.latestGrants(allowance.id)).toMatchObject({ granted: usd('50') })
    })

    test('a refused grant writes nothing, and a smaller one fits', async () => {
      const { store, accountId, grant } = await openWithToken(kind, usd('50'))

      await rejection(grant('51', { idempotencyKey: 'welcome' }))
      await grant('50', { idempotencyKey: 'welcome' })

      expect(await store.ledger.statement(accountId, { limit: 9 })).toHaveLength(1)
    })

    test('tokens do not count the grants of each other, nor credits without a token', async () => {
      const { store, accountId, grant } = await openWithToken(kind, usd('50'))
      const other = await store.adminTokens.create(aToken({ name: 'other' }))
      const allowance = { of: 'token', id: other.id, perDay: usd('5') } as const
      await store.ledger.credit({ ...aGrant(accountId), amount: usd('5'), allowance })
      await store.ledger.credit({ ...aCredit(accountId), amount: usd('70') })

      expect((await grant('50')).available).toBe(usd('125'))
    })

    test('a clock that is set back by a day gives no second amount', async () => {
      const { grant } = await openWithToken(kind, usd('50'))
      await grant('50')

      const refused = await rejection(grant('1', { atMs: NOW - DAY_MS }))

      expect(refused).toMatchObject({ code: 'grants_per_day_exceeded' })
    })
  })
}

/** A token that may grant an amount a day, and an account without money. */
async function openWithToken(kind: StoreKind, perDay: NanoUsd) {
  const opened = await openWithFunds(kind, ZERO)
  const { store, accountId } = opened
  const { id } = await store.adminTokens.create(aToken({ scopes: ['grants'], grantsPerDay: perDay }))
  const allowance = { of: 'token', id, perDay } as const
  const grant = (
    dollars: string,
    { atMs = NOW, ...more }: { readonly atMs?: number; readonly idempotencyKey?: string } = {},
  ) =>
    store.ledger.credit({
      ...aGrant(accountId),
      ...more,
      amount: usd(dollars),
      allowance,
      audit: anAudit({ atMs }),
    })
  return { ...opened, allowance, grant }
}

function aGrant(accountId: number) {
  return { ...aCredit(accountId), source: 'promotions' } as const
}

function aToken(change: Partial<NewAdminToken> = {}): NewAdminToken {
  const publicId = `tok_${anId().key}`
  return {
    publicId,
    name: publicId,
    hash: aHash(),
    prefix: 'tg_admin_abcd',
    scopes: ['read'],
    grantsPerDay: null,
    expiresAtMs: null,
    audit: anAudit({ action: 'token.create', subject: publicId }),
    ...change,
  }
}

function aHash(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}
