import { describe, expect, test } from 'bun:test'
import type { Account, ApiKey } from '../../src/domain/accounts/account.ts'
import { NO_LIMITS } from '../../src/domain/limits/limits-row.ts'
import { usd } from '../../src/domain/money.ts'
import type { Accounts, Editor } from '../../src/gateway/ports/accounts.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { anAudit, anId, NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the accounts of any store must do. */
export function accountsConform(kind: StoreKind): void {
  describe('accounts', () => {
    test('an account is found by its id and by its name', async () => {
      const { store } = await kind.open()

      const account = await store.accounts.createAccount({
        publicId: 'acct_1',
        name: 'ada',
        sandboxOnly: true,
        audit: anAudit(),
      })

      expect(account).toEqual({
        id: expect.any(Number),
        publicId: 'acct_1',
        name: 'ada',
        sandboxOnly: true,
        createdAtMs: NOW,
        suspendedAtMs: null,
      })
      expect(await store.accounts.findAccount('acct_1')).toEqual(account)
      expect(await store.accounts.findAccount('ada')).toEqual(account)
      expect(await store.accounts.findAccount('bob')).toBeUndefined()
    })

    test('of two accounts created at once with one name, one is created', async () => {
      const { store } = await kind.open()

      const outcomes = await Promise.allSettled([make(store.accounts, 'ada'), make(store.accounts, 'ada')])

      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
      expect(outcomes[1]).toHaveProperty('reason.code', 'already_exists')
      expect(await namesOf(store.accounts)).toEqual(['ada'])
    })

    test('an account is found by its number', async () => {
      const { store } = await kind.open()
      await make(store.accounts, 'ada')
      const bob = await make(store.accounts, 'bob')

      expect(await store.accounts.findAccountById(bob.id)).toEqual(bob)
      expect(await store.accounts.findAccountById(bob.id + 1)).toBeUndefined()
    })

    test('accounts are listed in the order of their creation, page by page', async () => {
      const { store } = await kind.open()
      for (const name of ['cleo', 'ada', 'bob', 'dan']) await make(store.accounts, name)

      const first = await store.accounts.listAccounts({ limit: 2 })
      const second = await store.accounts.listAccounts({ limit: 2, cursor: first.next! })

      expect(first.accounts.map(({ name }) => name)).toEqual(['cleo', 'ada'])
      expect(second.accounts.map(({ name }) => name)).toEqual(['bob', 'dan'])
      expect(second.next).toBeUndefined()
    })

    test('a cursor that no list of accounts gave is refused', async () => {
      const { store } = await kind.open()

      for (const cursor of ['', 'acct_1', '-1', '9'.repeat(19)]) {
        const error = await rejection(store.accounts.listAccounts({ limit: 2, cursor }))

        expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'cursor' } })
      }
    })
  })

  describe('api keys', () => {
    test('a key is found by its hash, with its account', async () => {
      const { store } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store.accounts)

      const authenticated = await store.accounts.authenticate(hash)

      expect(authenticated).toEqual({ account, apiKey })
      expect(apiKey).toMatchObject({ accountId: account.id, prefix: 'tg_live_abcd', revokedAtMs: null })
    })

    test('a key that was unknown before it was created is known from then on', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const bytes = new Uint8Array(32).fill(7)
      const before = await store.accounts.authenticate(base64(bytes))

      const apiKey = await makeKey(store.accounts, account, bytes)

      expect(before).toBeUndefined()
      expect(await store.accounts.authenticate(base64(bytes))).toEqual({ account, apiKey })
    })

    test('a revoked key is refused at once, and after a restart', async () => {
      const { store, reopen } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store.accounts)
      await store.accounts.authenticate(hash)

      const revoked = await store.accounts.updateKey(apiKey.publicId, REVOKED, at(NOW + 1))
      const after = await store.accounts.authenticate(hash)
      const reopened = await reopen()

      expect(revoked).toEqual({ ...apiKey, revokedAtMs: NOW + 1 })
      expect(after).toBeUndefined()
      expect(await reopened.accounts.authenticate(hash)).toBeUndefined()
    })

    test('revoking a key again changes nothing, and an unknown key cannot be revoked', async () => {
      const { store } = await kind.open()
      const { apiKey } = await makeWithKey(store.accounts)
      const first = await store.accounts.updateKey(apiKey.publicId, REVOKED, at(NOW + 1))

      const second = await store.accounts.updateKey(apiKey.publicId, REVOKED, at(NOW + 2))
      const none = await rejection(store.accounts.updateKey('key_none', REVOKED, at(NOW)))

      expect(second).toEqual(first)
      expect(none).toBeInstanceOf(RangeError)
    })

    test('revoking one key does not affect the others', async () => {
      const { store } = await kind.open()
      const { account, apiKey } = await makeWithKey(store.accounts)
      const bytes = new Uint8Array(32).fill(9)
      const other = await makeKey(store.accounts, account, bytes)

      await store.accounts.updateKey(apiKey.publicId, REVOKED, at(NOW + 1))

      expect(await store.accounts.authenticate(base64(bytes))).toEqual({ account, apiKey: other })
      expect(await store.accounts.listKeys(account.id)).toEqual([{ ...apiKey, revokedAtMs: NOW + 1 }, other])
    })

    test('an account whose replays are off is known as such at once and after a restart, until they are on', async () => {
      const { store, reopen } = await kind.open()
      const { account, hash } = await makeWithKey(store.accounts)
      await store.accounts.authenticate(hash)

      const off = await store.accounts.updateAccount(account.publicId, { replays: false }, at(NOW + 1))
      const again = await store.accounts.updateAccount(account.publicId, { replays: false }, at(NOW + 2))
      const during = await store.accounts.authenticate(hash)
      const reopened = await reopen()
      const restarted = await reopened.accounts.findAccount(account.publicId)
      const on = await reopened.accounts.updateAccount(account.publicId, { replays: true }, at(NOW + 3))

      expect(off).toEqual({ ...account, replays: false })
      expect([again, during?.account, restarted]).toEqual([off, off, off])
      expect(on).toEqual(account)
    })

    test('a suspended account is known as suspended at once and after a restart, until it is resumed', async () => {
      const { store, reopen } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store.accounts)
      await store.accounts.authenticate(hash)

      const suspended = await store.accounts.updateAccount(account.publicId, { suspended: true }, at(NOW + 1))
      const again = await store.accounts.updateAccount(account.publicId, { suspended: true }, at(NOW + 2))
      const during = await store.accounts.authenticate(hash)
      const { accounts, auditLog } = await reopen()
      const reopened = await accounts.authenticate(hash)
      const resumed = await accounts.updateAccount(account.publicId, { suspended: false }, at(NOW + 3))
      const after = await accounts.authenticate(hash)

      expect(suspended).toEqual({ ...account, suspendedAtMs: NOW + 1 })
      expect([again, during, reopened]).toEqual([
        suspended,
        { account: suspended, apiKey },
        { account: suspended, apiKey },
      ])
      expect([resumed, after]).toEqual([account, { account, apiKey }])
      const lines = await auditLog.list({ limit: 10 })
      expect(lines.filter(({ action }) => action === 'account.suspend')).toHaveLength(1)
    })

    test('an unknown account cannot be changed', async () => {
      const { store } = await kind.open()

      const error = await rejection(store.accounts.updateAccount('acct_none', { suspended: true }, at(NOW)))

      expect(error).toBeInstanceOf(RangeError)
    })

    test('a patch of two parts writes an audit line for each part that it changes, by its editor', async () => {
      const { store } = await kind.open()
      const { publicId } = await make(store.accounts, 'ada')
      await store.accounts.updateAccount(publicId, { replays: false }, at(NOW + 1))
      await store.accounts.updateAccount(publicId, { suspended: true, replays: false }, at(NOW + 2))

      const account = await store.accounts.updateAccount(
        publicId,
        { suspended: false, replays: true },
        { actor: 'ben', atMs: NOW + 3 },
      )
      const unchanged = await store.accounts.updateAccount(publicId, {}, at(NOW + 4))

      expect(account.suspendedAtMs).toBeNull()
      expect(unchanged).toEqual(account)
      const lines = await store.auditLog.list({ limit: 4 })
      expect(lines).toMatchObject([
        { actor: 'ben', action: 'account.replays_on', subject: publicId, atMs: NOW + 3 },
        { actor: 'ben', action: 'account.resume', subject: publicId, atMs: NOW + 3 },
        { actor: 'test', action: 'account.suspend', subject: publicId, atMs: NOW + 2 },
        { actor: 'test', action: 'account.replays_off', subject: publicId, atMs: NOW + 1 },
      ])
    })

    test('a patch of an account and one of a key carry limits, with an audit line if they change any', async () => {
      const { store } = await kind.open()
      const { account, apiKey } = await makeWithKey(store.accounts)
      const limits = { limits: { requests_per_minute: 60 }, budgets: { day: usd('5') } }
      const edit = async (atMs: number) => {
        await store.accounts.updateAccount(account.publicId, { replays: false, limits }, at(atMs))
        await store.accounts.updateKey(apiKey.publicId, { limits }, at(atMs))
      }

      await edit(NOW + 1)
      await edit(NOW + 2)

      const owners = [undefined, apiKey.id].map(apiKeyId => ({ accountId: account.id, apiKeyId }))
      for (const owner of owners) expect(await store.limits.of(owner)).toEqual({ ...limits, perModel: {} })
      const detail = '{"limits":{"requests_per_minute":60},"budgets":{"day":"5"}}'
      expect((await store.auditLog.list({ limit: 4 })).slice(0, 3)).toMatchObject([
        { action: 'key.limits', subject: apiKey.publicId, detail, atMs: NOW + 1 },
        { action: 'account.replays_off', subject: account.publicId, atMs: NOW + 1 },
        { action: 'account.limits', subject: account.publicId, detail, atMs: NOW + 1 },
      ])
    })

    test('a patch whose limits are refused changes nothing', async () => {
      const { store } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store.accounts)
      const terms = { limits: { requests_per_minute: 1 } }
      const models = Array.from({ length: 101 }, (_, index) => [`m${index}`, terms] as const)
      const limits = { ...terms, perModel: Object.fromEntries(models) }

      const errors = [
        await rejection(store.accounts.updateAccount(account.publicId, { replays: false, limits }, at(NOW))),
        await rejection(store.accounts.updateKey(apiKey.publicId, { ...REVOKED, limits }, at(NOW))),
      ]

      expect(errors).toMatchObject([{ code: 'invalid_field' }, { code: 'invalid_field' }])
      expect(await store.accounts.authenticate(hash)).toEqual({ account, apiKey })
      for (const apiKeyId of [undefined, apiKey.id])
        expect(await store.limits.of({ accountId: account.id, apiKeyId })).toEqual(NO_LIMITS)
      const actions = (await store.auditLog.list({ limit: 9 })).map(({ action }) => action)
      expect(actions).toEqual(['key.create', 'account.create'])
    })

    test('a key is still known after a restart', async () => {
      const { store, reopen } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store.accounts)

      const { accounts } = await reopen()

      expect(await accounts.authenticate(hash)).toEqual({ account, apiKey })
    })

    test('a key for an account that does not exist is refused', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')

      await rejection(makeKey(store.accounts, { ...account, id: account.id + 1 }, new Uint8Array(32)))

      expect(await store.accounts.listKeys(account.id + 1)).toEqual([])
    })
  })

  describe('two nodes', () => {
    /** Other nodes see a change of accounts and keys within this. */
    const VISIBLE_MS = 1_000

    async function openTwo() {
      const clock = fakeClock(NOW)
      const { store, other } = await kind.open({ clock })
      return { clock, accounts: store.accounts, other: other.accounts }
    }

    test('two nodes refuse a key within 1 s after one of them revoked it', async () => {
      const { clock, accounts, other } = await openTwo()
      const { apiKey, hash } = await makeWithKey(accounts)
      const before = await other.authenticate(hash)

      await accounts.updateKey(apiKey.publicId, REVOKED, at(NOW))
      const here = await accounts.authenticate(hash)
      clock.advance(VISIBLE_MS)
      const there = await other.authenticate(hash)

      expect(before).toMatchObject({ apiKey })
      expect([here, there]).toEqual([undefined, undefined])
    })

    test('two nodes know a key within 1 s after one of them created it', async () => {
      const { clock, accounts, other } = await openTwo()
      const account = await make(accounts, 'ada')
      const bytes = new Uint8Array(32).fill(7)
      const before = await other.authenticate(base64(bytes))

      const apiKey = await makeKey(accounts, account, bytes)
      clock.advance(VISIBLE_MS)

      expect(before).toBeUndefined()
      expect(await other.authenticate(base64(bytes))).toEqual({ account, apiKey })
    })

    test('two nodes create one account of two with one name', async () => {
      const { accounts, other } = await openTwo()

      const outcomes = await Promise.allSettled([make(accounts, 'ada'), make(other, 'ada')])

      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await namesOf(accounts)).toEqual(['ada'])
    })

    test('two nodes revoke a key once', async () => {
      const { accounts, other } = await openTwo()
      const { apiKey } = await makeWithKey(accounts)

      const revoked = await Promise.all([
        accounts.updateKey(apiKey.publicId, REVOKED, at(NOW + 1)),
        other.updateKey(apiKey.publicId, REVOKED, at(NOW + 2)),
      ])

      expect(revoked[0]).toEqual(revoked[1])
    })
  })

  describe('audit log', () => {
    test('the audit log has a line for each change, newest first, and none for a refused call or one that changed nothing', async () => {
      const { store } = await kind.open()
      const { apiKey } = await makeWithKey(store.accounts)
      await rejection(make(store.accounts, 'ada'))
      await store.accounts.updateKey(apiKey.publicId, REVOKED, at(NOW))
      await store.accounts.updateKey(apiKey.publicId, REVOKED, at(NOW))

      const lines = await store.auditLog.list({ limit: 10 })

      expect(lines.map(line => line.action)).toEqual(['key.revoke', 'key.create', 'account.create'])
    })

    test('the audit log has the detail of a change if the change has one', async () => {
      const { store } = await kind.open()
      const change = { publicId: 'acct_1', name: 'ada', sandboxOnly: false }
      await store.accounts.createAccount({ ...change, audit: anAudit({ detail: 'by hand' }) })
      await make(store.accounts, 'bob')

      const lines = await store.auditLog.list({ limit: 2 })

      expect(lines.map(({ detail }) => detail)).toEqual([undefined, 'by hand'])
    })

    test('the audit log has its lines in the order of their writes, also if they have the same time or the clock goes back', async () => {
      const { store } = await kind.open()
      for (const [subject, atMs] of [
        ['first', 2000],
        ['second', 2000],
        ['third', 1000],
      ] as const)
        await store.auditLog.record(anAudit({ subject, atMs }))

      const lines = await store.auditLog.list({ limit: 10 })

      expect(lines.map(line => line.subject)).toEqual(['third', 'second', 'first'])
    })

    test('the audit log is read page by page', async () => {
      const { store } = await kind.open()
      for (const name of ['ada', 'bob', 'cleo']) await make(store.accounts, name)

      const first = await store.auditLog.list({ limit: 2 })
      const second = await store.auditLog.list({ limit: 2, before: first.at(-1)!.cursor })

      expect([...first, ...second].map(line => line.subject)).toEqual(['cleo', 'bob', 'ada'])
    })
  })
}

const REVOKED = { revoked: true } as const

function at(atMs: number): Editor {
  return { actor: 'test', atMs }
}

async function namesOf(accounts: Accounts): Promise<readonly string[]> {
  return (await accounts.listAccounts({ limit: 10 })).accounts.map(({ name }) => name)
}

function make(accounts: Accounts, name: string): Promise<Account> {
  const audit = anAudit({ action: 'account.create', subject: name })
  return accounts.createAccount({ publicId: `acct_${anId().key}`, name, sandboxOnly: false, audit })
}

function makeKey(accounts: Accounts, account: Account, hash: Uint8Array): Promise<ApiKey> {
  return accounts.createKey({
    publicId: `key_${anId().key}`,
    accountId: account.id,
    name: 'default',
    hash,
    prefix: 'tg_live_abcd',
    audit: anAudit({ action: 'key.create' }),
  })
}

async function makeWithKey(accounts: Accounts) {
  const account = await make(accounts, 'ada')
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return { account, apiKey: await makeKey(accounts, account, bytes), hash: base64(bytes) }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
