import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { GatewayError } from '../domain/errors.ts'
import type { Anchoring } from '../gateway/admin/operating/verify-books.ts'
import { openAnchorKeeper } from '../gateway/books/anchor-keeper.ts'
import { openSharedAnchor } from '../gateway/books/shared-anchor.ts'
import { BooksGuard, type GuardPorts } from '../gateway/books/books-guard.ts'
import { SharedChecks } from '../gateway/books/shared-checks.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { DatabaseServer } from '../gateway/ports/database-server.ts'
import type { Nodes } from '../gateway/ports/nodes.ts'
import type { StoreNode } from '../gateway/ports/store-node.ts'
import type { HttpClient } from '../http1/client/http-client.ts'
import { diskAnchorFile } from '../stores/disk/anchor-file.ts'
import { anchorObject } from '../stores/s3/anchor-object.ts'
import { lockFolder } from '../stores/sqlite/database/folder-lock.ts'
import { openSqliteStore, type SqliteStore } from '../stores/sqlite/store.ts'
import { openPostgresStore, type PostgresStore } from '../stores/postgres/store.ts'
import type { DataFolder } from './data-folder.ts'
import { openBucket } from './open-job-files.ts'
import { refuseUnfinishedRestore } from './restore/restored-books.ts'
import { version } from './version.ts'

/** The only node of a data folder: a SQLite file belongs to one process. */
export const NODE_NAME = 'main'

/** The node of this process, with its store. */
export type Node = Omit<StoreNode, 'close' | 'commitChains'> & {
  readonly nodes: Nodes
  /** The time for all instants that are stored or compared with them. The database's, if there is one. */
  readonly clock: Clock
  /** How far the clock of this machine is ahead of `clock`. Negative if it is behind. */
  readonly clockOffsetMs: () => number
  /** Rejects if the store cannot be read or written. */
  readonly probe: () => Promise<void>
  /** A sentence for the operator about the store, which will stop the gateway. Undefined if there is nothing. */
  readonly problem: () => Promise<string | undefined>
  /** A sentence for the operator about the store, which stops nothing. Undefined if there is nothing. */
  readonly warning: () => Promise<string | undefined>
  /** Work for all nodes that one of them must do every few minutes. Undefined if there is none. */
  readonly upkeep: (() => Promise<void>) | undefined
  readonly anchor: Anchoring
  readonly guard: BooksGuard
  /** Undefined if no other node can share the books. */
  readonly sharedChecks: SharedChecks | undefined
  /** False while the store cannot be written. */
  readonly isWritable: () => boolean
  /** The number of writes of the anchor that failed. */
  readonly anchorFailures: () => number
  /** Commits what waits, writes the anchor and releases the data folder. */
  readonly close: () => Promise<void>
}

type NodeParts = {
  readonly config: Config
  readonly folder: DataFolder
  /** Of this machine. */
  readonly clock: Clock
  /** The client that reaches the bucket. */
  readonly http: HttpClient
  /** For a command without a server. */
  readonly isOffline: boolean
  /** Called for each failed write of the anchor. */
  readonly onAnchorFailed: (error: unknown) => void
  /** Called for each new problem of the store that the operator should know. */
  readonly onStoreProblem: (problem: string) => void
}

/**
 * Locks the data folder and opens the node of this process: in the PostgreSQL database of the settings, or in the
 * SQLite file of the folder. Throws `DataFolderInUseError` while another process has the folder.
 */
export async function openNode(parts: NodeParts): Promise<Node> {
  const { config, folder } = parts
  const lock = lockFolder(folder.path)
  try {
    const { database, secretKey } = config
    const node =
      database === undefined || secretKey === undefined
        ? await openSqliteNode(parts)
        : await openPostgresNode(parts, { database, secretKey })
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

/** Opens the SQLite store of a data folder and its node, and compares the books with their anchor. */
async function openSqliteNode(parts: NodeParts): Promise<Node> {
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
    ...guarding(node, { anchor, isWritable: store.isWritable, buildRefusal: () => undefined }),
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

/** Opens a node in the PostgreSQL database. Its books have an anchor if there is a bucket, which all nodes share. */
async function openPostgresNode(
  parts: NodeParts,
  keys: { readonly database: DatabaseServer; readonly secretKey: Uint8Array },
): Promise<Node> {
  const { config, isOffline, onStoreProblem } = parts
  const name = config.nodeName ?? hostname()
  const store = await openPostgresStore({
    ...keys,
    databaseOwner: config.databaseOwner,
    name: isOffline ? `${name} (command)` : name,
    version,
    clock: parts.clock,
    random64: randomInBulk(),
    onProblem: onStoreProblem,
  })
  const { isWritable, refusal, nodes, clock, clockOffsetMs, problem, warning, upkeep } = store
  const { anchor, anchorFailures, stop } = await sharedAnchorOf(store, parts).catch(
    async (error: unknown) => {
      await store.close()
      throw error
    },
  )
  const guarded = guarding(store.node, { anchor, isWritable, buildRefusal: refusal })
  const { leases } = store.node
  return {
    ...store.node,
    ...guarded,
    sharedChecks: new SharedChecks({ checks: store.bookChecks, leases, guard: guarded.guard, clock }),
    nodes,
    clock,
    clockOffsetMs,
    problem,
    warning,
    upkeep,
    anchor,
    anchorFailures,
    async close() {
      await stop()
      await store.close()
    },
  }
}

/** The anchor in the bucket of the settings. */
async function sharedAnchorOf(
  { node, clock }: PostgresStore,
  { config, http, clock: ownClock, onAnchorFailed }: NodeParts,
): Promise<Pick<Node, 'anchor' | 'anchorFailures'> & { readonly stop: () => Promise<void> }> {
  const bucket = openBucket(config, { http, clock: ownClock })
  if (bucket === undefined)
    return { anchor: NO_ANCHOR, anchorFailures: () => 0, stop: () => Promise.resolve() }
  let anchorFailures = 0
  const anchor = await openSharedAnchor({
    file: anchorObject(bucket),
    chains: node.commitChains,
    auditLog: node.auditLog,
    leases: node.leases,
    clock,
    onFailed(error) {
      anchorFailures += 1
      onAnchorFailed(error)
    },
  })
  return { anchor, anchorFailures: () => anchorFailures, stop: () => anchor.stop() }
}

const NO_ANCHOR: Anchoring = {
  problem: undefined,
  acceptLoss: () =>
    Promise.reject(
      new GatewayError(
        'invalid_field',
        'Books in PostgreSQL have no anchor without TOLLGATE_S3_BUCKET, so no loss can be accepted.',
        {
          param: 'accept_loss',
        },
      ),
    ),
}

/** The guard of a node, and whether its store can be used. */
function guarding(
  { auditLog }: Pick<StoreNode, 'auditLog'>,
  ports: GuardPorts,
): Pick<Node, 'guard' | 'isWritable' | 'probe'> {
  const { isWritable } = ports
  return {
    guard: new BooksGuard(ports),
    isWritable,
    async probe() {
      await auditLog.list({ limit: 1 })
      if (!isWritable()) throw new Error('The last commit failed.')
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
