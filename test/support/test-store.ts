import { join } from 'node:path'
import type { Id } from '../../src/domain/ids.ts'
import type { Accounts } from '../../src/gateway/ports/accounts.ts'
import type { AdminTokens } from '../../src/gateway/ports/admin-tokens.ts'
import type { ApiKeys } from '../../src/gateway/ports/api-keys.ts'
import type { Alerts } from '../../src/gateway/ports/alerts.ts'
import type { Attempts } from '../../src/gateway/ports/attempts.ts'
import type { AuditLog } from '../../src/gateway/ports/audit.ts'
import type { CatalogStore } from '../../src/gateway/ports/catalog.ts'
import type { Clock } from '../../src/gateway/ports/clock.ts'
import type { Jobs } from '../../src/gateway/ports/jobs.ts'
import type { KeyDefaults } from '../../src/gateway/ports/key-defaults.ts'
import type { Leases } from '../../src/gateway/ports/leases.ts'
import type { Limits } from '../../src/gateway/ports/limits.ts'
import type { Ledger } from '../../src/gateway/ports/ledger.ts'
import type { Mail, MailQueue } from '../../src/gateway/ports/mail.ts'
import type { Projects } from '../../src/gateway/ports/projects.ts'
import type { SignInLinks, Users, UserSessions } from '../../src/gateway/ports/users.ts'
import type { BookedItems } from '../../src/gateway/ports/booked-items.ts'
import type { WebhookQueue, Webhooks } from '../../src/gateway/ports/webhooks.ts'
import type { StoreNode } from '../../src/gateway/ports/store-node.ts'
import { openSqliteStore, type SqliteStore } from '../../src/stores/sqlite/store.ts'
import { aDataFolder } from './data-folder.ts'
import { fakeClock } from './fake-clock.ts'
import { putNewDatabase } from './new-database.ts'

/** The ports that a node of any store offers. */
export type TestStore = {
  readonly newId: () => Id
  readonly ledger: Ledger
  readonly attempts: Attempts
  readonly jobs: Jobs
  readonly accounts: Accounts
  readonly apiKeys: ApiKeys
  readonly adminTokens: AdminTokens
  readonly users: Users
  readonly userSessions: UserSessions
  readonly signInLinks: SignInLinks
  readonly projects: Projects
  readonly keyDefaults: KeyDefaults
  readonly catalog: CatalogStore
  readonly auditLog: AuditLog
  readonly leases: Leases
  readonly limits: Limits
  readonly bookedItems: BookedItems
  readonly alerts: Alerts
  readonly webhooks: Webhooks
  readonly webhookQueue: WebhookQueue
  readonly mail: Mail
  readonly mailQueue: MailQueue
}

export type OpenOptions = {
  /** The clock of the store and of both nodes; a fake one by default. */
  readonly clock?: Clock
  /** The nodes whose listeners are never told of freed money, as if all hints were lost. */
  readonly dropHintsOf?: readonly ('store' | 'other')[]
}

/** A kind of store under test. Each `open` makes a new empty one. */
export type StoreKind = {
  readonly open: (options?: OpenOptions) => Promise<{
    readonly store: TestStore
    /** A second node over the same open store. */
    readonly other: TestStore
    /** The same data in a new process: what was only in memory is lost. */
    readonly reopen: () => Promise<TestStore>
  }>
  /** Whether the holds of text requests survive the process. */
  readonly textHolds: 'volatile' | 'durable'
  /** By how much clocks may be set back without a loss of lines in the lists of a time. */
  readonly setBackMs: number
}

export const sqlite: StoreKind = {
  textHolds: 'volatile',
  setBackMs: 40 * 3_600_000,
  async open({ clock = fakeClock(), dropHintsOf = [] } = {}) {
    const path = join(aDataFolder(), 'tollgate.db')
    const handle = (name: 'store' | 'other', node: TestStore): TestStore =>
      dropHintsOf.includes(name) ? { ...node, ledger: { ...node.ledger, onFreed: () => undefined } } : node
    let store = aSqliteStore(path, clock)
    return {
      store: handle('store', store),
      other: handle('other', store.openNode(nodeSettings('other', clock))),
      async reopen() {
        kill(store)
        store = aSqliteStore(path, clock)
        return handle('store', store)
      },
    }
  },
}

/** A node with its store. */
export type TestSqlite = Omit<StoreNode, 'close'> & SqliteStore

export function aSqliteStore(
  path: string = join(aDataFolder(), 'tollgate.db'),
  clock: Clock = fakeClock(),
): TestSqlite {
  const secretKey = () => ({ bytes: new Uint8Array(32), isNew: false })
  putNewDatabase(path)
  const store = openSqliteStore({ path, secretKey })
  return { ...store.openNode(nodeSettings('main', clock)), ...store }
}

export function nodeSettings(name: string, clock: Clock) {
  const random64 = () => crypto.getRandomValues(new BigInt64Array(1))[0]!
  return { name, clock, random64 }
}

/** Takes the file away from under the store: what waits to be committed is lost, as in a crash. */
export function kill({ database }: Pick<SqliteStore, 'database'>): void {
  database.close(true)
}
