import { idSource } from '../../domain/ids.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { StoreNode } from '../../gateway/ports/store-node.ts'
import { StoredAdminTokens } from '../books/access/admin-tokens.ts'
import { createAuditLog } from '../books/access/audit-log.ts'
import { Batches } from './batches.ts'
import type { Connections } from './database.ts'
import { createEngine } from './engine.ts'

export type NodeSettings = {
  /** A label, to show it. */
  readonly name: string
  readonly connections: Connections
  /** Replaces the clock of the database, for tests. */
  readonly clock?: Clock
  /** 64 random bits as a signed integer. */
  readonly random64: () => bigint
}

/** The ports that are there. */
export type PostgresNode = Pick<StoreNode, 'name' | 'newId' | 'adminTokens' | 'auditLog'> & {
  /** Writes what waits, ends the text holds of this node and gives its lane back. Repeating it changes nothing. */
  close(): Promise<void>
}

/** Takes a lane and opens the ports of one node. */
export async function openNode({ name, connections, clock, random64 }: NodeSettings): Promise<PostgresNode> {
  const { connect, reads } = connections
  const nowMs = clock === undefined ? {} : { nowMs: () => clock.now() }
  const batches = await Batches.open({ connect, label: name, ...nowMs })
  const engine = createEngine({ batches, reads })
  return {
    name,
    newId: idSource({ clock: clock ?? Date, random64 }),
    adminTokens: new StoredAdminTokens(engine),
    auditLog: createAuditLog(engine),
    async close() {
      await batches.close()
      await reads.close()
    },
  }
}
