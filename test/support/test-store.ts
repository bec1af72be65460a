import { join } from 'node:path'
import type { Clock } from '../../src/gateway/ports/clock.ts'
import type { StoreNode } from '../../src/gateway/ports/nodes/store-node.ts'
import { openSqliteStore, type SqliteStore } from '../../src/stores/sqlite/store.ts'
import { aDataFolder } from './data-folder.ts'
import { fakeClock, type FakeClock } from './fake-clock.ts'
import { putNewDatabase } from './new-database.ts'

/** The ports of a node of any store, without its name and its lifecycle. */
export type TestStore = Omit<StoreNode, 'name' | 'commitChains' | 'finishUpgrade' | 'close'>

export type OpenOptions = {
  /** The clock of the store and of both nodes; a fake one by default. */
  readonly clock?: FakeClock
  /** The nodes whose listeners are never told of freed money, as if all hints were lost. */
  readonly dropHintsOf?: readonly ('store' | 'other')[]
}

/** A kind of store under test. Each `open` makes a new empty one. */
export type StoreKind = {
  readonly open: (options?: OpenOptions) => Promise<{
    readonly store: TestStore
    /** A second node over the same data. With PostgreSQL, it runs in another process. */
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
