import { describe, expect, test } from 'bun:test'
import type { Accounts } from '../../src/gateway/ports/access/accounts.ts'
import { at, make, makeWithKey, REVOKED } from '../support/account-builders.ts'
import { anAudit, NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the accounts and the audit log of any store must do. */
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

    test('accounts are found by a part of their name in any case, or of their id, page by page', async () => {
      const { store } = await kind.open()
      for (const name of ['Ada Ltd', 'bob', 'ADAM', '100%_Ärzte!']) await make(store.accounts, name)
      const bob = await store.accounts.findAccount('bob')
      const found = async (search: string, cursor?: string) => {
        const page = { limit: 10, search, ...(cursor === undefined ? {} : { cursor }) }
        return (await store.accounts.listAccounts(page)).accounts.map(({ name }) => name)
      }
      const first = await store.accounts.listAccounts({ limit: 1, search: 'ada' })

      expect(await found('ada')).toEqual(['Ada Ltd', 'ADAM'])
      expect(await found('ada', first.next)).toEqual(['ADAM'])
      expect(await found('%_Ä')).toEqual(['100%_Ärzte!'])
      expect(await found('!')).toEqual(['100%_Ärzte!'])
      expect(await found(bob!.publicId.slice(2))).toEqual(['bob'])
      expect(await found('a%m')).toEqual([])
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

    test('an account whose replays are off is known as such at once and after a restart, until they are on', async () => {
      const { store, reopen } = await kind.open()
      const { account, hash } = await makeWithKey(store)
      await store.apiKeys.authenticate(hash)

      const off = await store.accounts.updateAccount(account.publicId, { replays: false }, at(NOW + 1))
      const again = await store.accounts.updateAccount(account.publicId, { replays: false }, at(NOW + 2))
      const during = await store.apiKeys.authenticate(hash)
      const reopened = await reopen()
      const restarted = await reopened.accounts.findAccount(account.publicId)
      const on = await reopened.accounts.updateAccount(account.publicId, { replays: true }, at(NOW + 3))

      expect(off).toEqual({ ...account, replays: false })
      expect([again, during?.account, restarted]).toEqual([off, off, off])
      expect(on).toEqual(account)
    })

    test('a suspended account is known as suspended at once and after a restart, until it is resumed', async () => {
      const { store, reopen } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store)
      await store.apiKeys.authenticate(hash)

      const suspended = await store.accounts.updateAccount(account.publicId, { suspended: true }, at(NOW + 1))
      const again = await store.accounts.updateAccount(account.publicId, { suspended: true }, at(NOW + 2))
      const during = await store.apiKeys.authenticate(hash)
      const { accounts, apiKeys, auditLog } = await reopen()
      const reopened = await apiKeys.authenticate(hash)
      const resumed = await accounts.updateAccount(account.publicId, { suspended: false }, at(NOW + 3))
      const after = await apiKeys.authenticate(hash)

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
  })

  describe('two nodes', () => {
    test('two nodes create one account of two with one name', async () => {
      const { store, other } = await kind.open()

      const outcomes = await Promise.allSettled([make(store.accounts, 'ada'), make(other.accounts, 'ada')])

      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await namesOf(store.accounts)).toEqual(['ada'])
    })
  })

  describe('the price list of an account', () => {
    const LIST = { id: 'partner', factor: 800_000_000n, prices: new Map() }

    test('the price list of an account is there for its next request on every node, with a line in the audit log', async () => {
      const { store, other } = await kind.open()
      await store.catalog.putPriceList(LIST, anAudit())
      const account = await make(store.accounts, 'ada')

      const changed = await store.accounts.updateAccount(account.publicId, { priceList: 'partner' }, at(NOW))
      const again = await store.accounts.updateAccount(account.publicId, { priceList: 'partner' }, at(NOW))
      const found = await other.accounts.findAccount('ada')
      const none = await store.accounts.updateAccount(account.publicId, { priceList: null }, at(NOW))

      const lines = await store.auditLog.list({ limit: 2 })
      expect([changed, again, found, none].map(each => each?.priceList)).toEqual([
        'partner',
        'partner',
        'partner',
        undefined,
      ])
      expect(lines.map(({ action, detail }) => [action, detail])).toEqual([
        ['account.price_list', '{"price_list":null,"was":"partner"}'],
        ['account.price_list', '{"price_list":"partner","was":null}'],
      ])
    })

    test('the price list of an account is one that exists, or the whole change is refused', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')

      const patch = { name: 'bob', priceList: 'partner' }
      const error = await rejection(store.accounts.updateAccount(account.publicId, patch, at(NOW)))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'price_list' } })
      expect(await namesOf(store.accounts)).toEqual(['ada'])
    })
  })

  describe('audit log', () => {
    test('the audit log has a line for each change, newest first, and none for a refused call or one that changed nothing', async () => {
      const { store } = await kind.open()
      const { apiKey } = await makeWithKey(store)
      await rejection(make(store.accounts, 'ada'))
      await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))
      await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))

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

    test.each([
      [{ actor: 'ADA@example' }, ['key_2', 'main%']],
      [{ action: 'key' }, ['key_2', 'key_1']],
      [{ action: 'key.create' }, ['key_1']],
      [{ action: 'k' }, []],
      [{ subject: '_1' }, ['key_1']],
      [{ subject: '%' }, ['main%']],
      [{ between: { fromMs: 2, toMs: 3 } }, ['key_2']],
      [{ actor: 'ada', action: 'key', between: { fromMs: 1, toMs: 9 } }, ['key_2']],
    ])('the audit log has only the lines of the filter %j', async (filter, subjects) => {
      const { store } = await kind.open()
      const user = 'user:ada@example.com (usr_1)'
      for (const audit of [
        { actor: user, action: 'provider.put', subject: 'main%', atMs: 1 },
        { actor: 'admin', action: 'key.create', subject: 'key_1', atMs: 1 },
        { actor: user, action: 'key.revoke', subject: 'key_2', atMs: 2 },
        { actor: 'admin', action: 'keyring.put', subject: 'other', atMs: 3 },
      ])
        await store.auditLog.record(anAudit(audit))

      const lines = await store.auditLog.list({ limit: 10, ...filter })

      expect(lines.map(line => line.subject)).toEqual(subjects)
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

async function namesOf(accounts: Accounts): Promise<readonly string[]> {
  return (await accounts.listAccounts({ limit: 10 })).accounts.map(({ name }) => name)
}
