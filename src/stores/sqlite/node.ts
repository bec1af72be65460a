import type { Database } from 'bun:sqlite'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { StoreNode } from '../../gateway/ports/nodes/store-node.ts'
import { accessParts } from './access-parts.ts'
import { nodePorts } from '../books/node-ports.ts'
import type { KeptKeys } from '../books/access/kept-keys.ts'
import type { Events } from '../books/events/events.ts'
import type { MailRecipients } from '../books/events/mail-recipients.ts'
import type { Receivers } from '../books/events/receivers.ts'
import { StoredCatalog } from '../books/catalog/stored-catalog.ts'
import { createJobEffects } from './ledger/job-effects.ts'
import type { OpenCatalog } from './catalog.ts'
import { createStepRunner, type StepDriver } from './commits/step-runner.ts'
import { GroupCommit } from './commits/group-commit.ts'
import type { Tables } from './commits/hashed-table.ts'
import { bunHashes, sha256Of } from './commits/hashes.ts'
import { HoldOwner } from './ledger/hold-owner.ts'
import { SqliteLeases, type TakenLeases } from './leases.ts'
import { createLedger, type LedgerSteps } from './ledger/ledger.ts'
import { createLimits } from './limits/limits.ts'
import { NodeChain } from './commits/node-chain.ts'
import type { Tariffs } from './ledger/tariffs.ts'
import type { Transactions } from './commits/transactions.ts'
import type { SecretBox } from '../books/secrets/secret-box.ts'
import { UsageRebuild } from './usage-days.ts'

/** The expression of the index `api_keys_by_expiry`. Settings that were damaged count as none. */
const KEY_EXPIRY = "CASE WHEN json_valid(settings) THEN settings ->> '$.expires_at' END"

export type NodeSettings = {
  /** Unique among the nodes of a store, and the same at each start: the node's chain of commits has this name. */
  readonly name: string
  readonly clock: Clock
  /** 64 random bits as a signed integer. */
  readonly random64: () => bigint
}

/** The parts that the nodes of a store share. */
export type SharedState = {
  readonly database: Database
  readonly transactions: Transactions
  readonly stepDriver: StepDriver
  readonly tariffs: Tariffs
  readonly tables: Tables
  readonly steps: LedgerSteps
  readonly keptKeys: KeptKeys
  readonly catalog: OpenCatalog
  readonly takenLeases: TakenLeases
  readonly receivers: Receivers
  readonly events: Events
  readonly mailRecipients: MailRecipients
  readonly secretBox: SecretBox
}

export function openNode(
  shared: SharedState,
  { name, clock, random64 }: NodeSettings,
  lastKey: bigint,
): Omit<StoreNode, 'close'> & { close(): void } {
  const author = NodeChain.open(shared.database, name)
  const groupCommit = new GroupCommit(shared.transactions, { author })
  const stepRunner = createStepRunner({ ...shared, groupCommit })
  const owner = new HoldOwner(random64(), clock)
  const { hints, text } = shared.steps
  const freedHints = hints.add()
  const ports = nodePorts({
    ...shared,
    ...shared.steps,
    stepRunner,
    access: accessParts({ ...shared, owner }),
    ids: { clock, random64, after: lastKey },
    money: shared.steps,
    owner,
    jobEffects: createJobEffects({ ...shared, node: name }),
    hashText: sha256Of,
    keyExpiry: KEY_EXPIRY,
  })
  return {
    ...ports,
    name,
    ledger: createLedger({ ...shared, groupCommit, stepRunner, owner, freedHints }),
    catalog: new StoredCatalog({ ...shared.catalog, stepRunner, hashes: bunHashes }),
    // The file belongs to one process, so this node's chain is the only one that grows.
    commitChains: {
      ends: async () => (author.end === undefined ? [] : [author.end]),
      hashOf: async ({ node, number }) => (node === name ? author.hashOf(number) : undefined),
      onCommit: listener => author.onCommit(listener),
    },
    limits: createLimits({ ...shared, stepRunner, owner }),
    leases: new SqliteLeases({ taken: shared.takenLeases, clock }),
    finishUpgrade: () => new UsageRebuild({ database: shared.database, groupCommit }).run(),
    close() {
      // A day of use that cannot be written is lost.
      ports.apiKeys.writeUses().catch(() => undefined)
      groupCommit.close()
      hints.remove(freedHints)
      text.forget(owner)
    },
  }
}
