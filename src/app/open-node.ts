import { openAnchorKeeper, type AnchorKeeper } from '../gateway/books/anchor-keeper.ts'
import { BooksGuard, guardedJobs, guardedLedger } from '../gateway/books/books-guard.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { StoreNode } from '../gateway/ports/store-node.ts'
import { diskAnchorFile } from '../stores/disk/anchor-file.ts'
import { lockFolder } from '../stores/sqlite/folder-lock.ts'
import { openSqliteStore, type SqliteStore } from '../stores/sqlite/store.ts'
import type { DataFolder } from './data-folder.ts'
import { refuseUnfinishedRestore } from './restore/restored-books.ts'

/** The only node of a data folder: a SQLite file belongs to one process. */
export const NODE_NAME = 'main'

/** The node of this process, with its store. */
export type Node = Omit<StoreNode, 'close'> & {
  /** Rejects if the store cannot be read or written. */
  readonly probe: () => Promise<void>
  readonly anchor: AnchorKeeper
  readonly guard: BooksGuard
  /** The number of writes of the anchor that failed. */
  readonly anchorFailures: () => number
  /** Commits what waits, writes the anchor and releases the data folder. */
  readonly close: () => Promise<void>
}

/**
 * Locks a data folder, opens its store and its node, and compares the books with their anchor. Throws
 * `DataFolderInUseError` while another process has the folder. `onAnchorFailed` is called for each failed write of the
 * anchor.
 */
export async function openNode(parts: {
  readonly folder: DataFolder
  readonly anchorPath: string
  readonly clock: Clock
  readonly onAnchorFailed: (error: unknown) => void
}): Promise<Node> {
  const { folder } = parts
  const lock = lockFolder(folder.path)
  try {
    refuseUnfinishedRestore(folder)
    const store = openSqliteStore({ path: folder.database, secretKey: () => folder.secretKey() })
    const node = await nodeOf(store, parts).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    return {
      ...node,
      async close() {
        await node.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function nodeOf(
  store: SqliteStore,
  {
    anchorPath,
    clock,
    onAnchorFailed,
  }: {
    readonly anchorPath: string
    readonly clock: Clock
    readonly onAnchorFailed: (error: unknown) => void
  },
): Promise<Node> {
  const node = store.openNode({ name: NODE_NAME, clock, random64: randomInBulk() })
  let anchorFailures = 0
  const anchor = await openAnchorKeeper({
    file: diskAnchorFile(anchorPath),
    chains: node.commitChains,
    auditLog: node.auditLog,
    clock,
    onFailed(error) {
      anchorFailures += 1
      onAnchorFailed(error)
    },
  })
  const guard = new BooksGuard(anchor)
  const guards = { isWritable: store.isWritable, guard }
  return {
    ...node,
    ledger: guardedLedger(node.ledger, guards),
    jobs: guardedJobs(node.jobs, guards),
    anchor,
    guard,
    anchorFailures: () => anchorFailures,
    async probe() {
      await node.auditLog.list({ limit: 1 })
      if (!store.isWritable()) throw new Error('The last commit failed.')
    },
    async close() {
      await anchor.stop()
      await store.close()
    },
  }
}

/** Random 64-bit integers. They are generated in bulk, because one call per integer is slow. */
export function randomInBulk(): () => bigint {
  const drawn = new BigInt64Array(512)
  let used = drawn.length
  return () => {
    if (used === drawn.length) {
      crypto.getRandomValues(drawn)
      used = 0
    }
    used += 1
    return drawn[used - 1] ?? 0n
  }
}
