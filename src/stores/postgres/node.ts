import { HOLD_TTL_MS } from '../../domain/ledger/hold.ts'
import { idSource } from '../../domain/ids.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { StoreNode } from '../../gateway/ports/store-node.ts'
import { StoredAccounts } from '../books/access/accounts.ts'
import { StoredAdminTokens } from '../books/access/admin-tokens.ts'
import { StoredApiKeys } from '../books/access/api-keys.ts'
import { createAuditLog } from '../books/access/audit-log.ts'
import { KeptKeys } from '../books/access/kept-keys.ts'
import { createKeyDefaults } from '../books/access/key-defaults.ts'
import { limitTerms } from '../books/access/limit-changes.ts'
import { StoredProjects } from '../books/access/projects.ts'
import { createMoneySteps } from '../books/ledger/money-steps.ts'
import { accessParts } from './access-parts.ts'
import { createBookedItems } from '../books/usage/booked-items.ts'
import { Batches } from './batches.ts'
import { besideCharges } from './beside-charges.ts'
import type { Connections } from './database.ts'
import { createEngine } from './engine.ts'
import { KeyLookups, watchOf } from './key-lookups.ts'
import { createLedger } from './ledger.ts'
import { Poll } from './poll.ts'
import { Tariffs } from './tariffs.ts'
import { TextHolds } from './text-holds.ts'

export type NodeSettings = {
  /** A label, to show it. */
  readonly name: string
  readonly connections: Connections
  readonly clock: Clock
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number
  /** 64 random bits as a signed integer. */
  readonly random64: () => bigint
}

/** The ports that are there. */
export type PostgresNode = Pick<
  StoreNode,
  | 'name'
  | 'newId'
  | 'accounts'
  | 'apiKeys'
  | 'projects'
  | 'keyDefaults'
  | 'adminTokens'
  | 'auditLog'
  | 'bookedItems'
> & {
  readonly ledger: ReturnType<typeof createLedger>
  readonly limits: Pick<StoreNode['limits'], 'of'>
  /** Writes what waits, ends the text holds of this node and gives its lane back. Repeating it changes nothing. */
  close(): Promise<void>
}

/** Takes a lane and opens the ports of one node. */
export async function openNode(settings: NodeSettings): Promise<PostgresNode> {
  const { name, connections, clock, random64 } = settings
  const { connect, reads } = connections
  const nowMs = settings.nowMs && { nowMs: settings.nowMs }
  const freed = new Set<(accountId: number) => void>()
  const onFreed = (accountId: number) => {
    for (const listener of freed) listener(accountId)
  }
  const batches = await Batches.open({ connect, label: name, onFreed, ...nowMs })
  const engine = createEngine({ batches, reads, onFreed })
  const money = createMoneySteps({ besideCharges, balanceAlerts: { *check() {} }, events: { *emit() {} } })
  const text = new TextHolds({ batches, reads, tariffs: new Tariffs(batches), onFreed, ...nowMs })
  const owner = { number: random64(), expiresAtMs: () => clock.now() + HOLD_TTL_MS }
  const kept = new KeptKeys()
  const poll = new Poll({ connect, clock, watches: [watchOf(kept)] })
  const keyLookups = new KeyLookups({ connect, clock, kept, poll })
  const access = accessParts({ engine, kept, keyLookups })
  const apiKeys = new StoredApiKeys(access)
  await poll.start()
  return {
    name,
    newId: idSource({ clock, random64 }),
    ledger: createLedger({
      engine,
      money,
      text,
      owner,
      clock,
      onFreed: listener => void freed.add(listener),
    }),
    accounts: new StoredAccounts(access),
    apiKeys,
    projects: new StoredProjects(access),
    keyDefaults: createKeyDefaults(engine),
    limits: { of: owner => engine.read(() => limitTerms(owner)) },
    adminTokens: new StoredAdminTokens(engine),
    auditLog: createAuditLog(engine),
    bookedItems: createBookedItems(engine),
    async close() {
      poll.close()
      keyLookups.close()
      // A day of use that cannot be written is lost.
      await apiKeys.writeUses().catch(() => undefined)
      await batches.close()
      await reads.close()
    },
  }
}
