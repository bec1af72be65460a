import { SQL } from 'bun'
import type { GatewayError } from '../../domain/errors.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import { placeOf, type DatabaseServer } from '../../gateway/ports/nodes/database-server.ts'
import type { Nodes } from '../../gateway/ports/nodes/nodes.ts'
import type { BookChecks } from '../../gateway/ports/ledger/book-checks.ts'
import type { StoreNode } from '../../gateway/ports/nodes/store-node.ts'
import { clientOptions, connections, requireSafeDatabase, type Connections } from './database/database.ts'
import { grantUse, migrate } from './database/migrate.ts'
import { openNode, type NodeSettings } from './node.ts'
import { timedReads } from './database/reads.ts'
import { ownerWarning, partitionProblem, runningNodes, upkeep } from './upkeep.ts'

const UPKEEP_MS_MAX = 60_000

/** The node of this process in a database that others may share. */
export type PostgresStore = {
  readonly node: StoreNode
  readonly nodes: Nodes
  readonly bookChecks: BookChecks
  /** The time of the database, which all nodes share, with the timers of this process. */
  readonly clock: Clock
  /** How far the clock of this machine is ahead of the database's. Negative if it is behind. */
  readonly clockOffsetMs: () => number
  /** The connections, for parts of a gateway that are not in the books. */
  readonly connections: Connections
  /** False while the database does not answer the writes of this node. */
  readonly isWritable: () => boolean
  /** A sentence for the operator about what will stop the gateway. Throws `unavailable` if it cannot be read. */
  readonly problem: () => Promise<string | undefined>
  /** A sentence for the operator about what works, and should be changed. Throws `unavailable`. */
  readonly warning: () => Promise<string | undefined>
  /** The error for new paid work, if this build is too old for the database. */
  readonly refusal: () => GatewayError | undefined
  /** One node of the database must do this every few minutes. Safe to run on every node at once. */
  readonly upkeep: () => Promise<void>
  readonly close: () => Promise<void>
}

export type PostgresStoreSettings = Omit<NodeSettings, 'connections' | 'nowMs'> & {
  readonly database: DatabaseServer
  /** For the role that owns the tables. Undefined if that is the one of `database`. */
  readonly databaseOwner: DatabaseServer | undefined
}

/**
 * Applies the migrations that are missing, and opens a node. Throws an Error for the operator if the database cannot be
 * reached, could lose charges, or has another secret key.
 */
export async function openPostgresStore(settings: PostgresStoreSettings): Promise<PostgresStore> {
  const { database, databaseOwner } = settings
  const shared = connections(clientOptions(database))
  if (databaseOwner !== undefined) await prepareAs(databaseOwner, database)
  await using(shared.connect(), 'TOLLGATE_DATABASE_URL', database, async sql => {
    await requireSafeDatabase(sql)
    await migrate(sql)
    await upkeep(sql, null)
  })
  const opened = await openNode({ ...settings, connections: shared })
  const { isWritable, problem, refusal, clock, clockOffsetMs, noteClockOffset, bookChecks, ...node } = opened
  // Without it, only the list of nodes lacks a number until the next upkeep.
  await noteClockOffset().catch(() => undefined)
  const reads = timedReads(shared.openReads)
  return {
    node,
    nodes: { list: () => runningNodes(reads) },
    bookChecks,
    connections: shared,
    isWritable,
    clock,
    clockOffsetMs,
    problem: async () => problem() ?? partitionProblem(reads),
    refusal,
    warning: () => ownerWarning(reads),
    async upkeep() {
      const sql = shared.connect()
      // The runtime has no time limit for a query whose network was cut. Closing the connection fails it.
      const timer = setTimeout(() => void sql.close({ timeout: 0 }), UPKEEP_MS_MAX)
      try {
        await upkeep(sql, null)
        await noteClockOffset()
      } finally {
        clearTimeout(timer)
        await sql.close({ timeout: 0 })
      }
    },
    async close() {
      await node.close()
      await reads.close()
    },
  }
}

/**
 * Applies the migrations that are missing, and runs work over a connection of the role that owns the tables. `connect`
 * opens others like it. Throws what `openPostgresStore` throws.
 */
export async function useAsOwner<T>(
  { database, databaseOwner }: Pick<PostgresStoreSettings, 'database' | 'databaseOwner'>,
  work: (sql: SQL, connect: () => SQL) => Promise<T>,
): Promise<T> {
  if (databaseOwner !== undefined) await prepareAs(databaseOwner, database)
  const server = databaseOwner ?? database
  const setting = databaseOwner === undefined ? 'TOLLGATE_DATABASE_URL' : 'TOLLGATE_DATABASE_OWNER_URL'
  const { connect } = connections(clientOptions(server))
  return using(connect(), setting, server, async sql => {
    await requireSafeDatabase(sql)
    await migrate(sql)
    return work(sql, connect)
  })
}

/** Applies the migrations as the owner of the tables, and lets the role of the gateway use them. */
async function prepareAs(owner: DatabaseServer, gateway: DatabaseServer): Promise<void> {
  const sql = connections(clientOptions(owner)).connect()
  await using(sql, 'TOLLGATE_DATABASE_OWNER_URL', owner, async () => {
    const other = connections(clientOptions(gateway)).connect()
    await using(other, 'TOLLGATE_DATABASE_URL', gateway, () => requireSame(sql, other, { owner, gateway }))
    await migrate(sql)
    if (gateway.user !== owner.user) await grantUse(sql, gateway.user)
  })
}

/**
 * Throws if the two connections are to different databases. A lock with a random number that one of them holds can be
 * taken by the other only in another database. Every role may try it, and it works through a pooler and by other names
 * of the same host.
 */
async function requireSame(
  sql: SQL,
  other: SQL,
  { owner, gateway }: { readonly owner: DatabaseServer; readonly gateway: DatabaseServer },
): Promise<void> {
  const lock = crypto.getRandomValues(new BigInt64Array(1))[0]
  const isOther = await sql.begin(async transaction => {
    await transaction`SELECT pg_advisory_xact_lock(${lock}::bigint)`
    const [tried] = await other<
      { taken: boolean }[]
    >`SELECT pg_try_advisory_xact_lock(${lock}::bigint) AS taken`
    return tried?.taken !== false
  })
  if (isOther)
    throw new Error(
      `TOLLGATE_DATABASE_URL and TOLLGATE_DATABASE_OWNER_URL name different databases: ${placeOf(gateway)}, and ${placeOf(owner)}. Give both the same database.`,
    )
}

/** Closes the connection after the work. An error of the connection becomes one that names the setting. */
async function using<T>(
  sql: SQL,
  setting: string,
  server: DatabaseServer,
  work: (sql: SQL) => Promise<T>,
): Promise<T> {
  try {
    await sql`SELECT 1`.catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(
        `The database ${placeOf(server)}, cannot be used by ${server.user}: ${reason.replace(/\.$/, '')}. Check ${setting} and the server.`,
        { cause },
      )
    })
    return await work(sql)
  } finally {
    await sql.close({ timeout: 0 })
  }
}
