import { HOLD_TTL_MS } from '../../domain/ledger/hold.ts'
import type { GatewayError } from '../../domain/errors.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { BookChecks } from '../../gateway/ports/ledger/book-checks.ts'
import type { StoreNode } from '../../gateway/ports/nodes/store-node.ts'
import type { StoredCatalog } from '../books/catalog/stored-catalog.ts'
import { nodePorts } from '../books/node-ports.ts'
import type { StoredApiKeys } from '../books/access/api-keys.ts'
import { BalanceAlerts } from '../books/events/balance-alerts.ts'
import { Events } from '../books/events/events.ts'
import { JobAlerts } from '../books/events/job-alerts.ts'
import { MailRecipients } from '../books/events/mail-recipients.ts'
import { secretBox } from '../books/secrets/secret-box.ts'
import { createMoneySteps } from '../books/ledger/money-steps.ts'
import { KeptKeys } from '../books/access/kept-keys.ts'
import { accessParts } from './access-parts.ts'
import { PostgresBookChecks } from './book-checks.ts'
import { Batches } from './lanes/batches.ts'
import { createChargeEffects } from './ledger/charge-effects.ts'
import { createJobEffects } from './ledger/job-effects.ts'
import { openCatalog } from './catalog.ts'
import { LaneChains } from './lanes/commit-chains.ts'
import type { Connections } from './database/database.ts'
import { DatabaseClock } from './database/database-clock.ts'
import type { StepRunner } from '../books/steps.ts'
import { createStepRunner } from './lanes/step-runner.ts'
import { KeyLookups, watchOf } from './key-lookups.ts'
import { sha256Of } from './lanes/lane.ts'
import { createLedger } from './ledger/ledger.ts'
import { PostgresLeases } from './leases.ts'
import { NewerGateways } from './newer-gateways.ts'
import { Poll } from './database/poll.ts'
import { limitUsage } from './limits/limit-usage.ts'
import { PostgresLimits } from './limits/limits.ts'
import { StepLimits } from './limits/step-limits.ts'
import { timedReads, type ReadQuery } from './database/reads.ts'
import { Tariffs } from './ledger/tariffs.ts'
import { TextHolds } from './ledger/text-holds.ts'
import { tellAlerts } from './limits/untold-alerts.ts'
import { noteClockOffset } from './upkeep.ts'
import { storedReceivers } from './receivers.ts'

/** The expression of the index `api_keys_by_expiry`. */
const KEY_EXPIRY = "(settings::jsonb ->> 'expires_at')"

export type NodeSettings = {
  /** A label, to show it. */
  readonly name: string
  /** Of the gateway. */
  readonly version: string
  readonly connections: Connections
  /** Of this machine. */
  readonly clock: Clock
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number
  /** Replaces the number of the last migration of this build, for tests. */
  readonly migration?: number
  /** Called if newer gateways did something that this one cannot follow, with a sentence for the operator. */
  readonly onProblem?: (problem: string) => void
  /** 64 random bits as a signed integer. */
  readonly random64: () => bigint
  /** The 32 bytes that secrets are sealed with. All nodes of a database have the same. */
  readonly secretKey: Uint8Array
}

/** The ports of a node, and what only a database can tell. */
export type PostgresNode = Omit<StoreNode, 'close'> & {
  readonly bookChecks: BookChecks
  /** False while the database does not answer. */
  readonly isWritable: () => boolean
  /** The batches that the database lost, or the acts of newer gateways that this one cannot follow, as a sentence. */
  readonly problem: () => string | undefined
  /** The error for new paid work, if this build is too old for the database. */
  readonly refusal: () => GatewayError | undefined
  /** The time of the database, which all nodes share, with the timers of this process. */
  readonly clock: Clock
  /** How far the clock of this machine is ahead of the database's. */
  readonly clockOffsetMs: () => number
  /** Stores `clockOffsetMs`, for the list of nodes. */
  readonly noteClockOffset: () => Promise<void>
  /** Writes what waits, ends the text holds of this node and gives its lane back. Repeating it changes nothing. */
  close(): Promise<void>
}

/** Takes a lane and opens the ports of one node. Throws an Error for the operator if its secret key is a wrong one. */
export async function openNode(settings: NodeSettings): Promise<PostgresNode> {
  const { name, version, connections, random64, onProblem = () => undefined } = settings
  const { connect } = connections
  const nowMs: { readonly nowMs?: () => number } = settings.nowMs ? { nowMs: settings.nowMs } : {}
  const build = settings.migration === undefined ? {} : { migration: settings.migration }
  const box = secretBox(settings.secretKey)
  const { onFreed, listen } = freedHints()
  const told = eventParts()
  const tell = () => tellEvents({ ...told, stepRunner })
  const reads = timedReads(connections.openReads)
  const clock = await DatabaseClock.open({ clock: settings.clock, reads, ...nowMs })
  const commitChains = new LaneChains({ reads })
  const batches = await Batches.open({
    connect,
    label: name,
    version,
    onFreed,
    onAlerts: () => void tell(),
    onCommit: () => commitChains.report(),
    onClosed: () => tariffs.forget(),
    ...nowMs,
    ...build,
  })
  const stepRunner = createStepRunner({ batches, reads, onFreed })
  const tariffs = new Tariffs(stepRunner)
  const { limits, ...spending } = spendingParts({ ...told, stepRunner, reads, clock, ...nowMs })
  const text = new TextHolds({ batches, reads, tariffs, onFreed, ...nowMs })
  const owner = { number: random64(), nowMs: () => clock.now(), expiresAtMs: () => clock.now() + HOLD_TTL_MS }
  const close = () => closeConnections(batches, reads)
  const catalog = await openCatalog(stepRunner, box).catch((error: unknown) =>
    close().then(() => Promise.reject(error)),
  )
  const newer = new NewerGateways({ clock, onProblem, ...build })
  const bookChecks = new PostgresBookChecks({ reads, ...nowMs })
  const { poll, keyLookups, keptOfAccess } = followed({ connect, clock, catalog, limits, newer, bookChecks })
  const ports = nodePorts({
    ...told,
    ...spending,
    stepRunner,
    access: accessParts({ ...told, stepRunner, kept: keptOfAccess, keyLookups, ...nowMs }),
    ids: { clock, random64 },
    owner,
    jobEffects: createJobEffects({ ...spending, ...told, batches, ...nowMs }),
    hashText: sha256Of,
    secretBox: box,
    keyExpiry: KEY_EXPIRY,
  })
  const ledgerParts = { ...spending, stepRunner, connect, text, limits, owner }
  await Promise.all([poll.start(), keyLookups.open()])
  return {
    ...ports,
    name,
    ledger: createLedger({ ...ledgerParts, tellAlerts: tell, onFreed: listen }),
    limits,
    catalog,
    leases: new PostgresLeases({ reads, ...nowMs }),
    bookChecks,
    commitChains,
    ...stateOf({ batches, newer, reads, clock }),
    // Every migration is complete when it is applied.
    finishUpgrade: () => Promise.resolve(),
    close: () => closeNode({ ...ports, poll, keyLookups, close }),
  }
}

/** The connections for reads are closed also if the last commit could not be stored. */
async function closeConnections(
  batches: Pick<Batches, 'close'>,
  reads: { close(): Promise<void> },
): Promise<void> {
  try {
    await batches.close()
  } finally {
    await reads.close()
  }
}

async function closeNode(parts: {
  readonly poll: Poll
  readonly keyLookups: KeyLookups
  readonly apiKeys: StoredApiKeys
  readonly close: () => Promise<void>
}): Promise<void> {
  parts.poll.close()
  parts.keyLookups.close()
  // A day of use that cannot be written is lost.
  await parts.apiKeys.writeUses().catch(() => undefined)
  await parts.close()
}

/** The state that only a database can tell. */
function stateOf({
  batches,
  newer,
  reads,
  clock,
}: {
  readonly batches: Batches
  readonly newer: NewerGateways
  readonly reads: ReadQuery
  readonly clock: DatabaseClock
}) {
  return {
    isWritable: () => batches.isWritable,
    problem: () => batches.lost ?? newer.problem,
    refusal: () => newer.refusal,
    clock,
    clockOffsetMs: () => clock.offsetMs,
    noteClockOffset: () => noteClockOffset(reads, { process: batches.process, offsetMs: clock.offsetMs }),
  }
}

/** Tells the listeners of this node of accounts that may have money to hold again. */
function freedHints() {
  const listeners = new Set<(accountId: number) => void>()
  return {
    onFreed: (accountId: number) => {
      for (const listener of listeners) listener(accountId)
    },
    listen: (listener: (accountId: number) => void) => void listeners.add(listener),
  }
}

/** The copies of keys, limits and the catalog, and the poll that follows the changes and checks of other nodes. */
function followed({
  connect,
  clock,
  catalog,
  limits,
  newer,
  bookChecks,
}: Pick<Connections, 'connect'> & {
  readonly clock: DatabaseClock
  readonly catalog: StoredCatalog
  readonly limits: PostgresLimits
  readonly newer: NewerGateways
  readonly bookChecks: PostgresBookChecks
}) {
  const kept = new KeptKeys()
  const keptOfAccess = {
    forget() {
      kept.forget()
      limits.forgetRefusals()
    },
  }
  const watches = [
    watchOf(keptOfAccess),
    ...newer.watchCatalog(catalog),
    newer.watchMigrations(),
    clock.watch,
    bookChecks.watch,
  ]
  const poll = new Poll({ connect, clock, watches })
  return { poll, keyLookups: new KeyLookups({ connect, clock, kept, poll }), keptOfAccess }
}

/** The parts that record events. */
function eventParts() {
  const receivers = storedReceivers
  const events = new Events(receivers)
  return {
    receivers,
    events,
    mailRecipients: new MailRecipients(receivers),
    balanceAlerts: new BalanceAlerts(events),
    jobAlerts: new JobAlerts(events),
  }
}

/** The steps that move money, with the limits that they take. */
function spendingParts(
  parts: ConstructorParameters<typeof PostgresLimits>[0] & { readonly balanceAlerts: BalanceAlerts },
) {
  const nowMs = parts.nowMs ?? (() => null)
  const stepLimits = new StepLimits(nowMs)
  const chargeEffects = createChargeEffects(stepLimits)
  const money = createMoneySteps({ ...parts, chargeEffects })
  const limits = new PostgresLimits(parts)
  return { stepLimits, chargeEffects, money, limits, limitUsage: limitUsage(nowMs) }
}

/** Alerts that cannot be told now are told with the next ones, or with the next renewal of holds. */
function tellEvents({ stepRunner, events }: { readonly stepRunner: StepRunner; readonly events: Events }) {
  return stepRunner.write('events', () => tellAlerts(event => events.emit(event))).catch(() => undefined)
}
