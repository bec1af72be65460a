import type { Provider } from '../../src/domain/catalog/provider.ts'
import type { Id } from '../../src/domain/ids.ts'
import { bodyMemory, inputSpool } from '../../src/gateway/byte-budgets/body-budgets.ts'
import type { ByteBudget } from '../../src/gateway/byte-budgets/byte-budget.ts'
import { JobRunner } from '../../src/gateway/media/work/job-runner.ts'
import { observedJobs } from '../../src/gateway/media/observe-jobs.ts'
import { NoMediaTries, RESULT_FETCHES_MAX, Slots } from '../../src/gateway/media/settle/fetch-result.ts'
import { inputRemover } from '../../src/gateway/media/create/job-inputs.ts'
import type { SubmitPorts } from '../../src/gateway/media/work/submit-job.ts'
import type { ApiKeys } from '../../src/gateway/ports/access/api-keys.ts'
import type { CatalogStore } from '../../src/gateway/ports/catalog.ts'
import type { Clock } from '../../src/gateway/ports/clock.ts'
import type { Jobs } from '../../src/gateway/ports/media/jobs.ts'
import type { Ledger } from '../../src/gateway/ports/ledger/ledger.ts'
import { reconcileJobs } from '../../src/reconciler/reconcile-jobs.ts'
import { reconcileOnce, startReconciler } from '../../src/reconciler/reconciler.ts'
import type { SweepPlaces } from '../../src/reconciler/sweep.ts'
import type { StoreNode } from '../../src/gateway/ports/nodes/store-node.ts'
import { Gate, gated } from './gate.ts'
import { MemoryBlobs } from './memory-blobs.ts'
import { Process } from './scheduler.ts'
import type { World } from './world.ts'

/** More than the simulated requests take. */
const SPOOL_BYTES = 1 << 30
const BODY_MEMORY_BYTES = 128 * 1024 * 1024

/** A provider in a private network: a link that was refused must not reach it. */
const PRIVATE_PROVIDER = 'sync-blind'

/** What a client gets when the node dies that it talks to. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** One node: the real use cases, store and reconciler, wired as the gateway wires them, each port behind a gate. */
export class SimulatedNode {
  readonly process: Process
  readonly clock: Clock
  readonly newId: () => Id
  readonly jobs: Jobs
  readonly ledger: Ledger
  readonly catalog: CatalogStore
  readonly apiKeys: ApiKeys
  readonly ports: SubmitPorts
  /** For the bodies of media requests. */
  readonly bodyMemory: ByteBudget
  readonly runner: JobRunner
  readonly #store: StoreNode
  readonly #world: World
  readonly #gate: Gate
  readonly #places: SweepPlaces = new Map()
  readonly #stopping = new AbortController().signal
  #stopReconciler: () => Promise<void> = async () => {}

  /** A node that starts again has the name that it had before. `start` tells its processes apart. */
  constructor(
    world: World,
    { name, start, skewMs }: { readonly name: string; readonly start: number; readonly skewMs: number },
  ) {
    const { scheduler, settings } = world
    const random = world.random.fork()
    const process = new Process(`${name}.${start}`)
    const gate = new Gate(process, { scheduler, random, slowCalls: world.plan.chaos.slowCalls })
    this.#world = world
    this.#gate = gate
    this.process = process
    this.clock = {
      now: () => scheduler.nowMs + skewMs,
      monotonicMs: () => scheduler.nowMs,
      after: (delayMs, then) => scheduler.after(process, delayMs, then),
    }
    this.#store = world.store.openNode({ name, clock: this.clock, random64: () => random.bits64() })
    this.newId = this.#store.newId
    this.ledger = gated(this.#store.ledger, 'ledger', gate, {
      reads: ['balance', 'expiredHolds'],
      direct: ['onFreed'],
    })
    this.catalog = gated(this.#store.catalog, 'catalog', gate, { reads: [], direct: ['current'] })
    this.apiKeys = gated(this.#store.apiKeys, 'apiKeys', gate, { reads: ['authenticate'] })
    const reads = ['find', 'history', 'list', 'due', 'openCounts'] as const
    const { jobs, blobs } = this.#mediaStores(gated(this.#store.jobs, 'jobs', gate, { reads }))
    this.jobs = jobs
    this.ports = {
      jobs,
      blobs,
      clock: this.clock,
      catalog: this.catalog,
      providerOf: ({ id }: Provider) => world.upstreams.get(id)?.adapter(gate),
      secretsOf: () => [],
      fetchUntrusted: world.files.fetcher(gate),
      isPrivate: async ({ id }) => id === PRIVATE_PROVIDER,
      resultFetches: new Slots(RESULT_FETCHES_MAX),
      noMedia: new NoMediaTries(),
      onFailed: this.onFailed,
      onUnknownStatus: () => {},
      inputSpool: inputSpool(SPOOL_BYTES, this.clock),
    }
    this.bodyMemory = bodyMemory(BODY_MEMORY_BYTES, this.clock)
    this.runner = new JobRunner(this.ports, settings)
  }

  readonly onFailed = (error: unknown): void => this.#world.reported(error)

  startReconciler(): void {
    const { reconcileEveryMs } = this.#world.settings
    const { clock, onFailed } = this
    this.#stopReconciler = startReconciler(() => this.reconcile(), { clock, onFailed }, reconcileEveryMs)
  }

  /** One pass, after which no job is open whose deadline was over before it. */
  async reconcile() {
    const { clock, runner, ports, onFailed } = this
    const [places, stopping] = [this.#places, this.#stopping]
    const { settings } = this.#world
    const startedAtMs = clock.now()
    let failures = 0
    const leases = gated(this.#store.leases, 'leases', this.#gate, { reads: ['take'] })
    const attempts = gated(this.#store.attempts, 'attempts', this.#gate, { reads: ['billed'] })
    const pass = await reconcileOnce({
      attempts,
      ledger: this.ledger,
      leases,
      clock,
      onFailed: error => {
        failures += 1
        onFailed(error)
      },
      reconcileJobs: onFailed => reconcileJobs({ ...ports, runner, places, stopping }, settings, onFailed),
    })
    if (pass.hasRun && failures === 0) this.#world.expectReleased(startedAtMs)
    return pass
  }

  /** Does work for a client. Rejects with `ConnectionLost` when the node dies before it has answered. */
  serve<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const lost = this.process.death.then(() => {
      throw new ConnectionLost('The node died.')
    })
    return Promise.race([work(), lost])
  }

  /** Stops as on SIGTERM: the running pass ends. */
  async stop(): Promise<void> {
    await this.#stopReconciler()
    await this.runner.idle()
  }

  /** Whatever it was doing never goes on, and writes nothing more. */
  kill(): void {
    this.#world.scheduler.kill(this.process)
    void this.#store.close()
  }

  #mediaStores(jobs: Jobs) {
    const { disk } = this.#world
    const gate = this.#gate
    const blobs = new MemoryBlobs(disk, { before: label => gate.store(label), now: () => gate.nowMs })
    const observed = observedJobs(jobs, [inputRemover({ blobs, onFailed: this.onFailed })])
    return { blobs, jobs: this.#world.recorded(observed) }
  }

  /** For the uploads of clients to this node. */
  upload(): Promise<void> {
    return this.#gate.network('upload')
  }
}
