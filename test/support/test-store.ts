import { join } from 'node:path'
import type { Id } from '../../src/domain/ids.ts'
import { usd, type NanoUsd } from '../../src/domain/money.ts'
import { chargeFor } from '../../src/domain/pricing/charge.ts'
import type { TextTariff } from '../../src/domain/pricing/tariff.ts'
import { NO_USAGE, type Usage } from '../../src/domain/pricing/usage.ts'
import type { Accounts } from '../../src/gateway/ports/accounts.ts'
import type { Audit, AuditLog } from '../../src/gateway/ports/audit.ts'
import type { Charge, Ledger } from '../../src/gateway/ports/ledger.ts'
import { openSqliteStore, type SqliteStore } from '../../src/stores/sqlite/store.ts'
import { aDataFolder } from './data-folder.ts'

/** What every store offers, whatever it is made of. */
export type TestStore = { readonly ledger: Ledger; readonly accounts: Accounts; readonly auditLog: AuditLog }

/** A store under test. Each `open` makes a new empty one. */
export type StoreKind = {
  readonly open: () => Promise<{
    readonly store: TestStore
    /** The same data in a new process: whatever was only remembered is gone. */
    readonly reopen: () => Promise<TestStore>
  }>
  /** Whether the holds of text requests survive the process. */
  readonly textHolds: 'volatile' | 'durable'
}

export const sqlite: StoreKind = {
  textHolds: 'volatile',
  async open() {
    const path = join(aDataFolder(), 'tollgate.db')
    let store = aSqliteStore(path)
    return {
      store,
      async reopen() {
        kill(store)
        store = aSqliteStore(path)
        return store
      },
    }
  },
}

export function aSqliteStore(path: string = join(aDataFolder(), 'tollgate.db')): SqliteStore {
  return openSqliteStore({ path, secretKey: () => new Uint8Array(32) })
}

/** Takes the file away from under the store: what waits to be committed is lost, as in a crash. */
export function kill({ database }: SqliteStore): void {
  database.close(true)
}

let ids = 0n

export function anId(): Id {
  ids += 1n
  return { key: ids, tail: -ids }
}

export function anAudit(change: Partial<Audit> = {}): Audit {
  return { actor: 'test', action: 'test.change', subject: 'something', atMs: 1_800_000_000_000, ...change }
}

/** A new account with money and a key. */
export async function anAccount(
  { accounts, ledger }: TestStore,
  { funds = usd('0') }: { readonly funds?: NanoUsd } = {},
): Promise<{ readonly accountId: number; readonly apiKeyId: number }> {
  const { key } = anId()
  const account = await accounts.createAccount({
    publicId: `acct_${key}`,
    name: `account ${key}`,
    sandboxOnly: false,
    audit: anAudit(),
  })
  const apiKey = await accounts.createKey({
    publicId: `key_${key}`,
    accountId: account.id,
    name: 'default',
    hash: aHash(),
    prefix: 'tg_live_abcd',
    audit: anAudit(),
  })
  if (funds > 0n)
    await ledger.credit({
      id: anId(),
      accountId: account.id,
      amount: funds,
      source: 'cash',
      audit: anAudit(),
    })
  return { accountId: account.id, apiKeyId: apiKey.id }
}

export function aHash(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}

/** One dollar for each input token, so that a usage is its price. */
export const DOLLAR_A_TOKEN: TextTariff = { input: usd('1000000'), output: usd('2000000') }

/** The charge of a request of so many input tokens at a dollar each, unless told otherwise. */
export function aCharge(
  apiKeyId: number,
  {
    tokens = 1,
    usage = { ...NO_USAGE, input: tokens },
    tariff = DOLLAR_A_TOKEN,
    ...rest
  }: Partial<Charge> & { readonly tokens?: number } = {},
): Charge {
  return {
    cost: tariff === null ? usd('0') : priceOf(usage, tariff),
    route: 'chat',
    apiKeyId,
    model: 'gpt-x',
    provider: 'main',
    usage,
    provenance: 'reported',
    isClamped: false,
    tariff,
    atMs: 1_800_000_000_000,
    ...rest,
  }
}

function priceOf(usage: Usage, tariff: TextTariff): NanoUsd {
  return chargeFor(usage, tariff)
}

/** What a promise was rejected with. Fails where it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([promise])
  if (outcome.status === 'fulfilled') throw new Error(`Expected a rejection, got ${String(outcome.value)}.`)
  return outcome.reason
}
