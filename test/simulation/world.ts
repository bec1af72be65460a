import { formatId, parseId, type Id } from '../../src/domain/ids.ts'
import { isFinal, type JobState, type MediaQuote } from '../../src/domain/jobs/job.ts'
import type { Jobs, NewJob } from '../../src/gateway/ports/media/jobs.ts'
import type { ImageTariff, VideoTariff } from '../../src/domain/pricing/tariff.ts'
import { simulatedKinds } from '../support/simulators/media/simulated-kinds.ts'
import type { SqliteStore } from '../../src/stores/sqlite/store.ts'
import { Faults, InjectedError } from './faults.ts'
import { KeySecrets } from './key-secrets.ts'
import { Disk } from './memory-blobs.ts'
import type { Plan } from './plan.ts'
import { Random } from './random.ts'
import { ResultFiles } from './result-files.ts'
import type { Scheduler } from './scheduler.ts'
import { models } from './template.ts'
import { Upstream, type AnyUpstream, type UpstreamTraits } from './upstream.ts'
import { WireUpstream } from './wire-upstream.ts'

const upstreamTraits: readonly UpstreamTraits[] = [
  { id: 'async-exact', isSynchronous: false, recovers: true },
  { id: 'async-blind', isSynchronous: false, recovers: false },
  { id: 'sync-exact', isSynchronous: true, recovers: true },
  { id: 'sync-blind', isSynchronous: true, recovers: false },
]

/** Everything outside of the nodes that lasts for a run, what is known of the run, and what was found wrong. */
export class World {
  readonly plan: Plan
  readonly random: Random
  readonly disk = new Disk()
  readonly faults = new Faults()
  readonly files: ResultFiles
  readonly upstreams: ReadonlyMap<string, AnyUpstream>
  /** The jobs as they were created, by their public ids. */
  readonly created = new Map<string, NewJob>()
  /** The prices that the operator has set, by model. */
  readonly prices = new Map<string, Set<bigint>>(
    models.map(model => [model.id, new Set([pricePerUnit(model.pricing)])]),
  )
  /** How many open jobs a key may have, by the store's integer key. Absent without a limit. */
  readonly slots = new Map<number, number>()
  readonly violations: string[] = []
  scheduler!: Scheduler
  store!: SqliteStore
  readonly secrets = new KeySecrets(this)
  /** From then on every call succeeds, and no node dies. */
  calmAtMs = Infinity
  /** The passes of the reconciler from then on. */
  readonly calmPasses: { readonly startedAtMs: number; readonly endedAtMs: number }[] = []
  isDiskFull = false
  /** When the disk became full. */
  readonly fullDisks: number[] = []
  readonly #inputs = new Set<bigint>()

  constructor(plan: Plan, random: Random) {
    this.plan = plan
    this.random = random
    this.files = new ResultFiles(this)
    const plain = upstreamTraits.map(traits => [traits.id, new Upstream(traits, this)] as const)
    const wired = plan.wires.map((name, index) => {
      const id = `wire-${index + 1}`
      return [id, new WireUpstream(id, simulatedKinds[name], this)] as const
    })
    this.upstreams = new Map<string, AnyUpstream>([...plain, ...wired])
  }

  get isCalm(): boolean {
    return this.calmAtMs !== Infinity
  }

  get settings(): Plan['settings'] {
    return this.plan.settings
  }

  /** A rule of the product that did not hold. */
  violated(what: string): void {
    this.violations.push(`step ${this.scheduler.steps}: ${what}`)
  }

  /** An error that reached no client. Only the simulation's own are expected. */
  reported(error: unknown): void {
    if (!isInjected(error))
      this.violated(`a node reported ${error instanceof Error ? error.stack : String(error)}`)
  }

  /** Notes each job as it is asked to be created. Its price is frozen from then on. */
  recorded(jobs: Jobs): Jobs {
    return {
      ...jobs,
      create: async job => {
        this.created.set(publicId(job), job)
        const created = await jobs.create(job)
        this.#checkSlots(job.apiKeyId)
        return created
      },
    }
  }

  addInput(bytes: Uint8Array): void {
    this.#inputs.add(Bun.hash.wyhash(bytes))
  }

  isInput(bytes: Uint8Array): boolean {
    return this.#inputs.has(Bun.hash.wyhash(bytes))
  }

  isSubmitMarked(jobId: string): boolean {
    return typeof this.#row(jobId)?.submitted_at_ms === 'bigint'
  }

  /** Whether a job in the store has this id of its provider. */
  isTaken(provider: string, upstreamId: string): boolean {
    return (
      this.store.database
        .query('SELECT 1 FROM jobs WHERE provider = ? AND upstream_id = ?')
        .get(provider, upstreamId) !== null
    )
  }

  hasEnded(jobId: string): boolean {
    const row = this.#row(jobId)
    return row !== null && isFinal(row.state)
  }

  /**
   * After a pass that began at an instant: a job whose deadline was over by then, and that has not moved since, has
   * ended.
   */
  expectReleased(passStartedAtMs: number): void {
    const open = this.store.database
      .query<{ id_key: bigint; id_tail: bigint; state: string }, [number, number]>(
        `SELECT id_key, id_tail, state FROM jobs
          WHERE state IN ('queued', 'processing', 'unknown_submit') AND deadline_at_ms <= ?
            AND changed_at_ms < ?`,
      )
      .all(passStartedAtMs, passStartedAtMs)
    for (const { id_key: key, id_tail: tail, state } of open)
      this.violated(
        `job ${formatId('op', { key, tail })} is ${state} past its deadline, behind a pass of the reconciler`,
      )
  }

  /** The open jobs of a key, whichever secrets asked for them, are never more than its slots. */
  #checkSlots(apiKeyId: number): void {
    const slots = this.slots.get(apiKeyId) ?? Infinity
    const open = this.store.database
      .query<{ count: number }, [number]>(
        `SELECT count(*) AS count FROM jobs
          WHERE api_key_id = ? AND state IN ('queued', 'processing', 'unknown_submit')`,
      )
      .get(apiKeyId)
    if (Number(open?.count) > slots) this.violated(`a key with ${slots} slots has ${open?.count} open jobs`)
  }

  #row(jobId: string) {
    const id = jobIdFrom(jobId)
    return this.store.database
      .query<{ state: JobState; submitted_at_ms: bigint | null }, [bigint, bigint]>(
        'SELECT state, submitted_at_ms FROM jobs WHERE id_key = ? AND id_tail = ?',
      )
      .get(id.key, id.tail)
  }
}

/** Whether an error is one that the simulation caused, or follows from one. */
export function isInjected(error: unknown): boolean {
  if (error instanceof InjectedError) return true
  return error instanceof Error && error.cause !== undefined && isInjected(error.cause)
}

export function publicId({ id, kind }: Pick<NewJob, 'id' | 'kind'>): string {
  return formatId(kind === 'image' ? 'img' : 'vid', id)
}

export function jobIdFrom(text: string): Id {
  const id = parseId('img', text) ?? parseId('vid', text)
  if (id === undefined) throw new Error(`"${text}" is not the id of a job.`)
  return id
}

export function priceOf({ tariff }: MediaQuote): bigint {
  return pricePerUnit(tariff)
}

function pricePerUnit(tariff: ImageTariff | VideoTariff): bigint {
  if ('perImage' in tariff) return tariff.perImage
  return 'perSecond' in tariff ? tariff.perSecond : tariff.maxPerImage
}
