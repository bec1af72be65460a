import { join } from 'node:path'
import type { Accounts } from '../../src/gateway/ports/accounts.ts'
import type { Attempts } from '../../src/gateway/ports/attempts.ts'
import type { AuditLog } from '../../src/gateway/ports/audit.ts'
import type { Ledger } from '../../src/gateway/ports/ledger.ts'
import { openSqliteStore, type SqliteStore } from '../../src/stores/sqlite/store.ts'
import { aDataFolder } from './data-folder.ts'

/** The ports that every store implements. */
export type TestStore = {
  readonly ledger: Ledger
  readonly attempts: Attempts
  readonly accounts: Accounts
  readonly auditLog: AuditLog
}

/** A store under test. Each `open` creates a new empty one. */
export type StoreKind = {
  readonly open: () => Promise<{
    readonly store: TestStore
    /** The same data in a new process, without the state that was only in memory. */
    readonly reopen: () => Promise<TestStore>
  }>
  /** Whether text holds survive the process. */
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
  return openSqliteStore({ path, secretKey: () => ({ bytes: new Uint8Array(32), isNew: false }) })
}

/** Closes the file under the store, so that uncommitted work is lost, as in a crash. */
export function kill({ database }: SqliteStore): void {
  database.close(true)
}
