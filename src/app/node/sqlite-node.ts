import { resolve } from 'node:path'
import { openAnchorKeeper } from '../../gateway/books/anchor-keeper.ts'
import { diskAnchorFile } from '../../stores/disk/anchor-file.ts'
import { openSqliteStore, type SqliteStore } from '../../stores/sqlite/store.ts'
import { refuseUnfinishedRestore } from '../restore/restored-books.ts'
import { version } from '../version.ts'
import { guardOf } from './guard-of.ts'
import type { Node, NodeParts } from './node.ts'
import { randomInBulk } from './random-in-bulk.ts'

/** The only node of a data folder: a SQLite file belongs to one process. */
export const NODE_NAME = 'main'

/** Opens the SQLite store of a data folder and its node, and compares the books with their anchor. */
export async function openSqliteNode(parts: NodeParts): Promise<Node> {
  const { folder } = parts
  refuseUnfinishedRestore(folder)
  const store = openSqliteStore({ path: folder.database, secretKey: () => folder.secretKey() })
  return sqliteNodeOf(store, parts).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
}

async function sqliteNodeOf(
  store: SqliteStore,
  { config, folder, clock, onAnchorFailed }: NodeParts,
): Promise<Node> {
  const node = store.openNode({ name: NODE_NAME, clock, random64: randomInBulk() })
  let anchorFailures = 0
  const anchor = await openAnchorKeeper({
    file: diskAnchorFile(resolve(config.anchorFile ?? folder.anchor)),
    chains: node.commitChains,
    auditLog: node.auditLog,
    clock,
    onFailed(error) {
      anchorFailures += 1
      onAnchorFailed(error)
    },
  })
  return {
    ...node,
    ...guardOf(node, { anchor, isWritable: store.isWritable, buildRefusal: () => undefined }),
    sharedChecks: undefined,
    nodes: {
      list: async () => [
        {
          name: NODE_NAME,
          version,
          isTooOld: false,
          lane: null,
          seenAtMs: clock.now(),
          clockOffsetMs: null,
          textHolds: null,
        },
      ],
    },
    clock,
    clockOffsetMs: () => 0,
    problem: () => Promise.resolve(undefined),
    warning: () => Promise.resolve(undefined),
    upkeep: undefined,
    anchor,
    anchorFailures: () => anchorFailures,
    async close() {
      await anchor.stop()
      await store.close()
    },
  }
}
