import { describe, expect, test } from 'bun:test'
import type { KeyPatch } from '../../src/domain/accounts/api-key.ts'
import { NO_LIMITS } from '../../src/domain/limits/limits-row.ts'
import { usd } from '../../src/domain/money.ts'
import {
  aKeyIn,
  aKeyOf,
  aProject,
  at,
  base64,
  make,
  makeKey,
  makeWithKey,
  REVOKED,
} from '../support/account-builders.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind } from '../support/test-store.ts'

const DAY_MS = 86_400_000

const iso = (atMs: number) => new Date(atMs).toISOString()

/** What the API keys of any store must do. */
export function apiKeysConform(kind: StoreKind): void {
  describe('api keys', () => {
    test('a key is found by its hash, with its account', async () => {
      const { store } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store)

      const authenticated = await store.apiKeys.authenticate(hash)

      expect(authenticated).toEqual({ account, apiKey })
      expect(apiKey).toMatchObject({ accountId: account.id, prefix: 'tg_live_abcd', revokedAtMs: null })
    })

    test('a key that was unknown before it was created is known from then on', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const bytes = new Uint8Array(32).fill(7)
      const before = await store.apiKeys.authenticate(base64(bytes))

      const apiKey = await makeKey(store, account, bytes)

      expect(before).toBeUndefined()
      expect(await store.apiKeys.authenticate(base64(bytes))).toEqual({ account, apiKey })
    })

    test('the keys of all accounts are listed newest first, page by page, with those that match a search', async () => {
      const { store } = await kind.open()
      const accounts = [await make(store.accounts, 'Ada'), await make(store.accounts, '100% Ben')]
      const keys = []
      for (const index of [1, 2, 3, 4]) {
        const account = accounts[index % 2]!
        keys.unshift(await makeKey(store, account, new Uint8Array(32).fill(index)))
      }
      const revoked = await store.apiKeys.update(keys[0]!.publicId, REVOKED, at(NOW + 1))

      const first = await store.apiKeys.listAll({ limit: 3 })
      const second = await store.apiKeys.listAll({ limit: 3, cursor: first.next! })
      const found = async (search: string) =>
        (await store.apiKeys.listAll({ limit: 9, search })).keys.map(({ key }) => key)

      expect([...first.keys, ...second.keys].map(({ key }) => key)).toEqual([revoked, ...keys.slice(1)])
      expect(second.next).toBeUndefined()
      expect(await found('ADA')).toEqual([revoked, keys[2]!])
      expect(await found('0% b')).toEqual([keys[1]!, keys[3]!])
      expect(await found(keys[1]!.publicId)).toEqual([keys[1]!])
      expect(await found('tg_live_')).toHaveLength(4)
      expect(await found('tg%live')).toEqual([])
      expect(await rejection(store.apiKeys.listAll({ limit: 1, cursor: 'none' }))).toMatchObject({
        code: 'invalid_field',
      })
    })

    test('the list of all keys names the account and the project of each', async () => {
      const { store } = await kind.open()
      const { apiKey, account } = await makeWithKey(store)
      const project = await aProject(store, { accountId: account.id })
      const inProject = await aKeyIn(store, project)

      const { keys } = await store.apiKeys.listAll({ limit: 9 })

      const owner = { publicId: account.publicId, name: account.name }
      expect(keys).toEqual([
        { key: inProject, account: owner, project: project.publicId },
        { key: apiKey, account: owner, project: null },
      ])
    })

    test('a revoked key is refused at once, and after a restart', async () => {
      const { store, reopen } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      await store.apiKeys.authenticate(hash)

      const revoked = await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW + 1))
      const after = await store.apiKeys.authenticate(hash)
      const reopened = await reopen()

      expect(revoked).toEqual({ ...apiKey, revokedAtMs: NOW + 1 })
      expect(after).toBeUndefined()
      expect(await reopened.apiKeys.authenticate(hash)).toBeUndefined()
    })

    test('revoking a key again changes nothing, and an unknown key cannot be revoked', async () => {
      const { store } = await kind.open()
      const { apiKey } = await makeWithKey(store)
      const first = await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW + 1))

      const second = await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW + 2))
      const none = await rejection(store.apiKeys.update('key_none', REVOKED, at(NOW)))

      expect(second).toEqual(first)
      expect(none).toBeInstanceOf(RangeError)
    })

    test('revoking one key does not affect the others', async () => {
      const { store } = await kind.open()
      const { account, apiKey } = await makeWithKey(store)
      const bytes = new Uint8Array(32).fill(9)
      const other = await makeKey(store, account, bytes)

      await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW + 1))

      expect(await store.apiKeys.authenticate(base64(bytes))).toEqual({ account, apiKey: other })
      expect(await store.apiKeys.list(account.id)).toEqual([{ ...apiKey, revokedAtMs: NOW + 1 }, other])
    })

    test('a patch of an account and one of a key carry limits, with an audit line if they change any', async () => {
      const { store } = await kind.open()
      const { account, apiKey } = await makeWithKey(store)
      const limits = { limits: { requests_per_minute: 60 }, budgets: { day: usd('5') } }
      const edit = async (atMs: number) => {
        await store.accounts.updateAccount(account.publicId, { replays: false, limits }, at(atMs))
        await store.apiKeys.update(apiKey.publicId, { limits }, at(atMs))
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
      const { account, apiKey, hash } = await makeWithKey(store)
      const terms = { limits: { requests_per_minute: 1 } }
      const models = Array.from({ length: 101 }, (_, index) => [`m${index}`, terms] as const)
      const limits = { ...terms, perModel: Object.fromEntries(models) }

      const errors = [
        await rejection(store.accounts.updateAccount(account.publicId, { replays: false, limits }, at(NOW))),
        await rejection(store.apiKeys.update(apiKey.publicId, { ...REVOKED, limits }, at(NOW))),
      ]

      expect(errors).toMatchObject([{ code: 'invalid_field' }, { code: 'invalid_field' }])
      expect(await store.apiKeys.authenticate(hash)).toEqual({ account, apiKey })
      for (const apiKeyId of [undefined, apiKey.id])
        expect(await store.limits.of({ accountId: account.id, apiKeyId })).toEqual(NO_LIMITS)
      const actions = (await store.auditLog.list({ limit: 9 })).map(({ action }) => action)
      expect(actions).toEqual(['key.create', 'account.create'])
    })

    test('a key is created with its settings and limits in one step', async () => {
      const { store, reopen } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const limits = { limits: { requests_per_minute: 60 } }
      const settings = { models: ['gpt-*'], expiresAtMs: NOW + 5 }

      const apiKey = await store.apiKeys.create({ ...aKeyOf(account), settings, limits })

      const owner = { accountId: account.id, apiKeyId: apiKey.id }
      expect(apiKey.settings).toEqual(settings)
      expect(await store.limits.of(owner)).toEqual({ ...limits, budgets: {}, perModel: {} })
      const lines = (await store.auditLog.list({ limit: 9 })).slice(0, 2)
      expect(lines.map(({ action, subject, detail }) => [action, subject, detail])).toEqual([
        ['key.limits', apiKey.publicId, '{"limits":{"requests_per_minute":60},"budgets":{},"per_model":{}}'],
        ['key.create', apiKey.publicId, `{"models":["gpt-*"],"expires_at":"${iso(NOW + 5)}"}`],
      ])
      const reopened = await reopen()
      expect(await reopened.apiKeys.list(account.id)).toEqual([apiKey])
      expect((await reopened.ledger.verify()).problems).toEqual([])
    })

    test('a key whose limits are refused is not created', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')
      const terms = { limits: { requests_per_minute: 1 } }
      const models = Array.from({ length: 101 }, (_, index) => [`m${index}`, terms] as const)
      const limits = { perModel: Object.fromEntries(models) }

      const error = await rejection(store.apiKeys.create({ ...aKeyOf(account), limits }))
      const apiKey = await store.apiKeys.create(aKeyOf(account))

      expect(error).toMatchObject({ code: 'invalid_field' })
      expect(await store.apiKeys.list(account.id)).toEqual([apiKey])
      expect((await store.ledger.verify()).problems).toEqual([])
    })

    test('settings of a key change one by one, each change has an audit line, and a repeat changes nothing', async () => {
      const { store, reopen } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const { publicId } = apiKey
      await store.apiKeys.authenticate(hash)
      const edit = (patch: KeyPatch, atMs: number) => store.apiKeys.update(publicId, patch, at(atMs))
      const second = { settings: { models: null, expiresAtMs: NOW + 9 }, disabled: true }

      await edit({ settings: { models: ['a'], routes: ['images'] } }, NOW + 1)
      await edit(second, NOW + 2)
      const changed = await edit(second, NOW + 3)

      const settings = { routes: ['images' as const], expiresAtMs: NOW + 9 }
      expect(changed).toEqual({ ...apiKey, settings, disabledAtMs: NOW + 2 })
      expect(await store.apiKeys.authenticate(hash)).toMatchObject({ apiKey: changed })
      const lines = (await store.auditLog.list({ limit: 9 })).slice(0, 3)
      expect(lines).toMatchObject([
        { action: 'key.disable', atMs: NOW + 2 },
        { action: 'key.update', atMs: NOW + 2, detail: `{"models":null,"expires_at":"${iso(NOW + 9)}"}` },
        { action: 'key.update', atMs: NOW + 1, detail: '{"models":["a"],"routes":["images"]}' },
      ])
      const reopened = await reopen()
      expect(await reopened.apiKeys.authenticate(hash)).toMatchObject({ apiKey: changed })
      expect((await reopened.ledger.verify()).problems).toEqual([])
    })

    test('a renamed key keeps everything else, each rename has an audit line, and a repeat changes nothing', async () => {
      const { store, reopen } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      await store.apiKeys.authenticate(hash)
      const rename = (name: string, atMs: number) => store.apiKeys.update(apiKey.publicId, { name }, at(atMs))

      const renamed = await rename('web', NOW + 1)
      const again = await rename('web', NOW + 2)
      const known = await store.apiKeys.authenticate(hash)
      const back = await rename('default', NOW + 3)

      expect(renamed).toEqual({ ...apiKey, name: 'web' })
      expect(again).toEqual(renamed)
      expect(known).toMatchObject({ apiKey: renamed })
      expect(back).toEqual(apiKey)
      const lines = (await store.auditLog.list({ limit: 9 })).filter(({ action }) => action === 'key.rename')
      expect(lines).toMatchObject([
        { atMs: NOW + 3, detail: '{"name":"default","was":"web"}' },
        { atMs: NOW + 1, detail: '{"name":"web","was":"default"}' },
      ])
      const reopened = await reopen()
      expect(await reopened.apiKeys.list(apiKey.accountId)).toEqual([apiKey])
      expect((await reopened.ledger.verify()).problems).toEqual([])
    })

    test('a key without settings left is as it was, and a disabled key can be enabled', async () => {
      const { store } = await kind.open()
      const { apiKey } = await makeWithKey(store)
      const edit = (patch: KeyPatch) => store.apiKeys.update(apiKey.publicId, patch, at(NOW + 1))
      await edit({ settings: { models: ['a'] }, disabled: true })

      const changed = await edit({ settings: { models: null }, disabled: false })

      expect(changed).toEqual(apiKey)
      expect(await store.apiKeys.list(apiKey.accountId)).toEqual([apiKey])
      expect((await store.ledger.verify()).problems).toEqual([])
    })

    test('the day of use of a key is written once a day, and never goes back', async () => {
      const { store, reopen } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const day = Math.floor(NOW / DAY_MS)
      const use = async (atMs: number) => {
        const { apiKey: known } = (await store.apiKeys.authenticate(hash))!
        store.apiKeys.noteUse(known, atMs)
        await store.apiKeys.writeUses()
        return (await store.apiKeys.list(apiKey.accountId))[0]!.lastUsedDay
      }

      const days = [await use(NOW), await use(NOW + 1), await use(NOW + DAY_MS), await use(NOW - DAY_MS)]

      expect([apiKey.lastUsedDay, ...days]).toEqual([null, day, day, day + 1, day + 1])
      const [reopened] = await (await reopen()).apiKeys.list(apiKey.accountId)
      expect(reopened!.lastUsedDay).toBe(day + 1)
    })

    test('a key is still known after a restart', async () => {
      const { store, reopen } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store)

      const { apiKeys } = await reopen()

      expect(await apiKeys.authenticate(hash)).toEqual({ account, apiKey })
    })

    test('a key for an account that does not exist is refused', async () => {
      const { store } = await kind.open()
      const account = await make(store.accounts, 'ada')

      await rejection(makeKey(store, { ...account, id: account.id + 1 }, new Uint8Array(32)))

      expect(await store.apiKeys.list(account.id + 1)).toEqual([])
    })
  })

  describe('two nodes', () => {
    /** Other nodes see a change of accounts and keys within this. */
    const VISIBLE_MS = 1_000

    async function openTwo() {
      const clock = fakeClock(NOW)
      const { store, other } = await kind.open({ clock })
      return { clock, store, other }
    }

    test('two nodes refuse a key within 1 s after one of them revoked it', async () => {
      const { clock, store, other } = await openTwo()
      const { apiKey, hash } = await makeWithKey(store)
      const before = await other.apiKeys.authenticate(hash)

      await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))
      const here = await store.apiKeys.authenticate(hash)
      clock.advance(VISIBLE_MS)
      const there = await other.apiKeys.authenticate(hash)

      expect(before).toMatchObject({ apiKey })
      expect([here, there]).toEqual([undefined, undefined])
    })

    test('two nodes have the settings of a key within 1 s after one of them changed them', async () => {
      const { clock, store, other } = await openTwo()
      const { apiKey, hash } = await makeWithKey(store)
      await other.apiKeys.authenticate(hash)
      const patch: KeyPatch = { settings: { routes: ['images'] }, disabled: true }

      await store.apiKeys.update(apiKey.publicId, patch, at(NOW))
      const here = await store.apiKeys.authenticate(hash)
      clock.advance(VISIBLE_MS)
      const there = await other.apiKeys.authenticate(hash)

      const changed = { disabledAtMs: NOW, settings: { routes: ['images'] } }
      expect([here!.apiKey, there!.apiKey]).toMatchObject([changed, changed])
    })

    test('two nodes know a key within 1 s after one of them created it', async () => {
      const { clock, store, other } = await openTwo()
      const account = await make(store.accounts, 'ada')
      const bytes = new Uint8Array(32).fill(7)
      const before = await other.apiKeys.authenticate(base64(bytes))

      const apiKey = await makeKey(store, account, bytes)
      clock.advance(VISIBLE_MS)

      expect(before).toBeUndefined()
      expect(await other.apiKeys.authenticate(base64(bytes))).toEqual({ account, apiKey })
    })

    test('two nodes revoke a key once', async () => {
      const { store, other } = await openTwo()
      const { apiKey } = await makeWithKey(store)

      const revoked = await Promise.all([
        store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW + 1)),
        other.apiKeys.update(apiKey.publicId, REVOKED, at(NOW + 2)),
      ])

      expect(revoked[0]).toEqual(revoked[1])
    })
  })
}
