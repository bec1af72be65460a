import { ZERO } from '../../src/domain/money.ts'
import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import type { StoreNode } from '../../src/gateway/ports/nodes/store-node.ts'
import { openSqliteStore } from '../../src/stores/sqlite/store.ts'
import { anAudit } from '../support/ledger-builders.ts'
import { kill } from '../support/test-store.ts'
import { InjectedError } from './faults.ts'
import { SimulatedNode } from './node.ts'
import type { Random } from './random.ts'
import { Process, type Turn } from './scheduler.ts'
import { keyHash } from './template.ts'
import type { World } from './world.ts'

const PER = 1000
const MINUTE = 60_000
/** Steps that move money or begin a submit. Nodes die more often there than elsewhere. */
const CRITICAL = new Set([
  'jobs.create',
  'jobs.beginSubmit',
  'jobs.accept',
  'jobs.complete',
  'jobs.fail',
  'jobs.bookLateCompletion',
])
const CRITICAL_KILLS = 20

/**
 * Two nodes over one open store, and what happens to them: kills between two steps of theirs, kills right after a
 * commit, pauses, power cuts that take both nodes and the open store, and full disks.
 */
export class Cluster {
  /** Where customers, operators and timers of the simulation run. */
  readonly outside = new Process('outside')
  readonly #world: World
  readonly #random: Random
  readonly #path: string
  readonly #nodes: (SimulatedNode | undefined)[] = [undefined, undefined]
  #kills = 0
  #starts = 0
  /** The node that dies with its next commit. */
  #doomed: SimulatedNode | undefined

  constructor(world: World, path: string) {
    this.#world = world
    this.#random = world.random.fork()
    this.#path = path
  }

  /** Opens the store, and gives the accounts what they start with, and their keys the limits of the plan. */
  async fund(payers: readonly Authenticated[]): Promise<void> {
    this.#openStore()
    const { ledger, apiKeys } = this.observer()
    const { secrets, slots, plan } = this.#world
    const { funds, keyLimits } = plan
    for (const [index, payer] of payers.entries()) {
      const { account, apiKey } = payer
      secrets.add(payer, keyHash(index + 1), apiKey.prefix)
      const limit = keyLimits[index]
      if (typeof limit?.slots === 'number') slots.set(apiKey.id, limit.slots)
      const limits = {
        limits: { concurrent_requests: limit?.slots ?? null },
        budgets: { total: limit?.budget ?? null },
      }
      await apiKeys.update(apiKey.publicId, { limits }, anAudit())
      const id = { key: BigInt(index + 1), tail: 0n }
      const amount = funds[index] ?? ZERO
      await ledger.credit({ id, accountId: account.id, amount, source: 'cash', audit: anAudit() })
    }
  }

  /** The ports of the store without gates, to look at it from outside. */
  observer(): StoreNode {
    const { scheduler, store } = this.#world
    this.#starts += 1
    const clock = { now: () => scheduler.nowMs, monotonicMs: () => scheduler.nowMs, after: () => () => {} }
    return store.openNode({ name: `observer-${this.#starts}`, clock, random64: () => 0n })
  }

  start(): void {
    for (const index of this.#nodes.keys()) this.#startNode(index)
  }

  /** The nodes that run now. */
  get nodes(): readonly SimulatedNode[] {
    return this.#nodes.filter(node => node !== undefined)
  }

  /** Before each turn: false where it is not taken, because its node has died. */
  interfere({ process, kind, label }: Turn): boolean {
    if (this.#world.isCalm || process === this.outside) return true
    const { chaos } = this.#world.plan
    const node = this.nodes.find(node => node.process === process)
    if (node === undefined) return false
    this.#doomed = undefined
    if (this.#happens(chaos.powerCuts / 10)) return this.#cutPower()
    if (this.#happens(chaos.fullDisks)) this.#fillDisk()
    if (this.#happens(chaos.pauses)) return this.#pause(process)
    const isCritical = CRITICAL.has(label)
    const kills = isCritical ? chaos.kills * CRITICAL_KILLS : chaos.kills
    if (this.#kills >= chaos.killsMax || !this.#happens(kills)) return true
    this.#kills += 1
    if (kind === 'call' && this.#random.chance(isCritical ? 0.7 : 0.3)) {
      this.#doomed = node
      return true
    }
    this.#world.faults.count('node killed')
    return this.#kill(node)
  }

  /** Ends all faults, and starts what is down. */
  calm(): void {
    this.#world.calmAtMs = this.#world.scheduler.nowMs
    this.#world.isDiskFull = false
    this.#doomed = undefined
    for (const [index, node] of this.#nodes.entries()) {
      if (node === undefined) this.#startNode(index)
      else node.process.pausedUntilMs = 0
    }
  }

  async close(): Promise<void> {
    await this.#world.store.close()
  }

  #openStore(): void {
    const secretKey = () => ({ bytes: new Uint8Array(32), isNew: false })
    const store = openSqliteStore({ path: this.#path, secretKey })
    // The simulation does not cut the power of this machine.
    store.database.run('PRAGMA synchronous = OFF')
    store.transactions.join({
      beforeCommit: () => {
        if (this.#world.isDiskFull) throw new InjectedError('The disk is full.')
      },
      afterCommit: () => this.#dieAfterCommit(),
    })
    this.#world.store = store
  }

  #startNode(index: number): void {
    this.#starts += 1
    const skewMs = this.#world.plan.chaos.skewsMs[index] ?? 0
    const node = new SimulatedNode(this.#world, { name: `node-${index}`, start: this.#starts, skewMs })
    this.#nodes[index] = node
    node.startReconciler()
  }

  /** A later commit of the same call, if there is one, finds the node dead. */
  #dieAfterCommit(): void {
    const node = this.#doomed
    this.#doomed = undefined
    if (node === undefined) return
    this.#world.faults.count('node killed right after a commit')
    queueMicrotask(() => this.#kill(node))
  }

  #kill(node: SimulatedNode): false {
    const index = this.#nodes.indexOf(node)
    if (index < 0) return false
    this.#nodes[index] = undefined
    node.kill()
    this.#after(this.#random.pick([0, 1000, MINUTE, 20 * MINUTE]), () => {
      if (this.#nodes[index] === undefined) this.#startNode(index)
    })
    return false
  }

  #cutPower(): false {
    this.#world.faults.count('power cut')
    for (const node of this.nodes) this.#kill(node)
    kill(this.#world.store)
    this.#openStore()
    return false
  }

  #pause(process: Process): true {
    this.#world.faults.count('node paused')
    process.pausedUntilMs = this.#world.scheduler.nowMs + this.#random.magnitude(1000, 45 * MINUTE)
    return true
  }

  #fillDisk(): void {
    if (this.#world.isDiskFull) return
    this.#world.faults.count('disk full')
    this.#world.isDiskFull = true
    this.#world.fullDisks.push(this.#world.scheduler.nowMs)
    this.#after(this.#random.magnitude(100, MINUTE), () => (this.#world.isDiskFull = false))
  }

  #happens(ofThousand: number): boolean {
    return ofThousand > 0 && this.#random.chance(ofThousand / PER)
  }

  #after(delayMs: number, then: () => void): void {
    this.#world.scheduler.after(this.outside, delayMs, then)
  }
}
