import type { Clock } from '../gateway/ports/clock.ts'
import type { SqliteNode } from '../stores/sqlite/node.ts'
import { openSqliteStore } from '../stores/sqlite/store.ts'
import type { DataFolder } from './data-folder.ts'
import { guardedLedger } from './guarded-ledger.ts'

/** The only node of a data folder: a SQLite file belongs to one process. */
const NODE_NAME = 'main'

/** The node of this process, with its store. */
export type Node = Omit<SqliteNode, 'close'> & {
  /** Rejects if the store cannot be read or written. */
  readonly probe: () => Promise<void>
  /** Commits what waits and releases the data folder. */
  readonly close: () => Promise<void>
}

/** Opens the store of a data folder and its node. Throws `DataFolderInUseError` while another process has the folder. */
export function openNode(folder: DataFolder, clock: Clock): Node {
  const store = openSqliteStore({ path: folder.database, secretKey: () => folder.secretKey() })
  const node = store.openNode({ name: NODE_NAME, clock, random64: randomInBulk() })
  return {
    ...node,
    ledger: guardedLedger(node.ledger, store.isWritable),
    async probe() {
      await node.auditLog.list({ limit: 1 })
      if (!store.isWritable()) throw new Error('The last commit failed.')
    },
    close: () => store.close(),
  }
}

/** Random 64-bit integers. They are generated in bulk, because one call per integer is slow. */
function randomInBulk(): () => bigint {
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
