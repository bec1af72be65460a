import { describe, expect, test } from 'bun:test'
import { NO_LIMITS, type LimitsPatch } from '../../src/domain/limits/limits-row.ts'
import { NO_KEY_DEFAULTS, type NewKeyDefaultsPatch } from '../../src/domain/accounts/key-defaults.ts'
import type { KeySettingsPatch } from '../../src/domain/accounts/key-settings.ts'
import { usd } from '../../src/domain/money.ts'
import { aKey, aKeyOf, at, make } from '../support/account-builders.ts'
import { NOW } from '../support/ledger-builders.ts'
import type { StoreKind } from '../support/test-store.ts'

/** An account, and its new keys. */
async function openWithAccount(kind: StoreKind) {
  const opened = await kind.open()
  const { store } = opened
  const account = await make(store.accounts, 'ada')
  const accountId = account.id
  return {
    ...opened,
    accountId,
    ofGateway: (patch: NewKeyDefaultsPatch) => store.keyDefaults.change(patch, at(NOW)),
    ofAccount: (keyDefaults: NewKeyDefaultsPatch) =>
      store.accounts.updateAccount(account.publicId, { keyDefaults }, at(NOW)),
    /** The limits of a new key. */
    newKey: async (limits?: LimitsPatch) => {
      const { id } = await aKey(store, { accountId, ...(limits && { limits }) })
      return store.limits.of({ accountId, apiKeyId: id })
    },
    /** The settings of a new key, as the store has them. */
    newSettings: async (settings?: KeySettingsPatch) => {
      await store.apiKeys.create({ ...aKeyOf(account), ...(settings && { settings }) })
      return (await store.apiKeys.list(accountId)).at(-1)?.settings
    },
  }
}

/** What the defaults for new keys of any store must do. */
export function keyDefaultsConform(kind: StoreKind): void {
  describe('defaults for new keys', () => {
    test('defaults of the account come before those of the gateway, and the own limits of a key before both', async () => {
      const { ofGateway, ofAccount, newKey } = await openWithAccount(kind)
      await ofGateway({
        limits: { requests_per_minute: 60, concurrent_requests: 5 },
        budgets: { day: usd('1'), month: usd('20') },
      })
      await ofAccount({ limits: { requests_per_minute: 30 }, budgets: { day: usd('2') } })

      const limits = await newKey({
        budgets: { day: usd('3') },
        perModel: { x: { budgets: { day: usd('1') } } },
      })

      expect(limits).toEqual({
        limits: { requests_per_minute: 30, concurrent_requests: 5 },
        budgets: { day: usd('3'), month: usd('20') },
        perModel: { x: { limits: {}, budgets: { day: usd('1') } } },
      })
    })

    test('defaults do not apply where a key is created with null', async () => {
      const { ofGateway, newKey } = await openWithAccount(kind)
      await ofGateway({ limits: { requests_per_minute: 60 }, budgets: { day: usd('1'), month: usd('2') } })

      const some = await newKey({ limits: null, budgets: { day: null } })
      const none = await newKey({ limits: { requests_per_minute: null }, budgets: null })

      expect(some).toEqual({ ...NO_LIMITS, budgets: { month: usd('2') } })
      expect(none).toEqual(NO_LIMITS)
    })

    test('settings of a new key are its own, else those of the account, else those of the gateway; null is none', async () => {
      const { reopen, accountId, ofGateway, ofAccount, newSettings } = await openWithAccount(kind)
      await ofGateway({ settings: { models: ['gpt-*'], routes: ['images'], expiresInMs: 1000 } })
      await ofAccount({ settings: { models: ['claude-*'], expiresInMs: 5000 } })

      const plain = await newSettings()
      const own = await newSettings({ models: null, routes: ['videos'] })
      const none = await newSettings({ models: null, routes: null, expiresAtMs: null })

      expect(plain).toEqual({ models: ['claude-*'], routes: ['images'], expiresAtMs: NOW + 5000 })
      expect(own).toEqual({ routes: ['videos'], expiresAtMs: NOW + 5000 })
      expect(none).toBeUndefined()
      const { keyDefaults, ledger, auditLog } = await reopen()
      const settings = { models: ['claude-*'], expiresInMs: 5000 }
      expect(await keyDefaults.of(accountId)).toEqual({ ...NO_KEY_DEFAULTS, settings })
      expect((await ledger.verify()).problems).toEqual([])
      const created = (await auditLog.list({ limit: 9 })).filter(({ action }) => action === 'key.create')
      expect(created.at(-1)?.detail).toBe(
        `{"models":["claude-*"],"routes":["images"],"expires_at":"${new Date(NOW + 5000).toISOString()}"}`,
      )
    })

    test('a default of the settings is removed by null, and the last one leaves no row', async () => {
      const { store, ofGateway, newSettings } = await openWithAccount(kind)
      await ofGateway({ settings: { routes: ['images'], expiresInMs: 1000 } })

      const fewer = await ofGateway({ settings: { expiresInMs: null } })
      const none = await ofGateway({ settings: { routes: null } })

      expect(fewer).toEqual({ ...NO_KEY_DEFAULTS, settings: { routes: ['images'] } })
      expect(none).toEqual(NO_KEY_DEFAULTS)
      expect(await newSettings()).toBeUndefined()
      expect((await store.ledger.verify()).problems).toEqual([])
    })

    test('defaults that change later change no key that was created before', async () => {
      const { store, accountId, ofGateway, ofAccount } = await openWithAccount(kind)
      await ofAccount({ limits: { requests_per_minute: 60 } })
      const key = await aKey(store, { accountId })

      await ofAccount({ limits: { requests_per_minute: null } })
      await ofGateway({ budgets: { day: usd('1') } })

      const limits = { requests_per_minute: 60 }
      expect(await store.limits.of({ accountId, apiKeyId: key.id })).toEqual({ ...NO_LIMITS, limits })
    })

    test('defaults of one account do not apply to another', async () => {
      const { store, ofAccount, newKey } = await openWithAccount(kind)
      const other = await make(store.accounts, 'ben')

      await ofAccount({ limits: { requests_per_minute: 60 } })
      const foreign = await aKey(store, { accountId: other.id })

      expect(await newKey()).toMatchObject({ limits: { requests_per_minute: 60 } })
      expect(await store.limits.of({ accountId: other.id, apiKeyId: foreign.id })).toEqual(NO_LIMITS)
    })

    test('defaults are kept over a restart, and each is changed alone', async () => {
      const { reopen, accountId, ofGateway, ofAccount } = await openWithAccount(kind)
      await ofGateway({ limits: { requests_per_minute: 60 } })
      await ofAccount({ limits: { requests_per_minute: 30 }, budgets: { day: usd('1') } })

      await ofAccount({ budgets: { day: null, month: usd('5') } })
      await ofGateway({ limits: null })
      const { keyDefaults } = await reopen()

      const limits = { requests_per_minute: 30 }
      expect(await keyDefaults.of(accountId)).toEqual({
        limits,
        budgets: { month: usd('5') },
        settings: {},
      })
      expect(await keyDefaults.of(undefined)).toEqual(NO_KEY_DEFAULTS)
    })

    test('defaults that change, and the limits of a new key, are in the audit log', async () => {
      const { store, ofGateway, ofAccount, newKey } = await openWithAccount(kind)
      const [account] = (await store.accounts.listAccounts({ limit: 1 })).accounts
      await ofGateway({ limits: { requests_per_minute: 60 } })
      await ofGateway({ limits: { requests_per_minute: 60 } })
      await ofAccount({ budgets: { day: usd('1') } })
      await newKey()

      const lines = (await store.auditLog.list({ limit: 9 })).toReversed()

      expect(lines.slice(1)).toMatchObject([
        {
          action: 'gateway.key_defaults',
          subject: 'gateway',
          detail: '{"limits":{"requests_per_minute":60},"budgets":{}}',
        },
        {
          action: 'account.key_defaults',
          subject: account!.publicId,
          detail: '{"limits":{},"budgets":{"day":"1"}}',
        },
        { action: 'key.create' },
        {
          action: 'key.limits',
          detail: '{"limits":{"requests_per_minute":60},"budgets":{"day":"1"},"per_model":{}}',
        },
      ])
    })
  })
}
