import type { MediaResult, SubmitCall } from '../../src/gateway/ports/providers/media-provider.ts'
import type { Gate } from './gate.ts'
import type { Random } from './random.ts'
import { aResult, workMs, type UpstreamJob } from './upstream-job.ts'
import type { World } from './world.ts'

type StoreTerms = {
  readonly answer: UpstreamJob['answer']
  readonly inMs?: number
  /** The result as the provider can report it. */
  readonly shape?: (result: MediaResult) => MediaResult
}

/** A provider's own record of the jobs that it has, in the order in which it got them: the oracle of a run. */
export class UpstreamLedger {
  readonly jobs: UpstreamJob[] = []
  readonly #name: string
  readonly #world: World
  readonly #random: Random

  constructor(name: string, world: World, random: Random) {
    this.#name = name
    this.#world = world
    this.#random = random
  }

  /** Takes a job, now or in a while. */
  store(
    call: SubmitCall,
    { process, nowMs }: Gate,
    { answer, inMs = 0, shape = result => result }: StoreTerms,
  ): UpstreamJob {
    const { files, plan } = this.#world
    const random = this.#random
    const faults = plan.chaos.upstreamFaults
    const storedAtMs = nowMs + inMs
    const endsAtMs = random.chance(0.2)
      ? Math.max(storedAtMs, this.#aroundDeadline(call.jobId))
      : storedAtMs + workMs(random, faults / 2)
    const job: UpstreamJob = {
      upstreamId: `${this.#name}-${this.jobs.length}`,
      jobId: call.jobId,
      kind: call.kind,
      storedAtMs,
      endsAtMs,
      ending: random.chance(0.1) ? 'failed' : 'finished',
      result: shape(aResult(call, { random, faults, files, fromMs: endsAtMs })),
      submitter: process,
      answer,
      answeredAtMs: undefined,
      askedAtMs: storedAtMs,
    }
    this.jobs.push(job)
    return job
  }

  /** Passes and customers then find the end of a job while others release it. */
  #aroundDeadline(jobId: string): number {
    const job = this.#world.created.get(jobId)
    if (job === undefined) throw new Error(`No customer asked for ${jobId}.`)
    return job.deadlineAtMs + this.#random.integer(-150_000, 1000)
  }

  find(upstreamId: string): UpstreamJob | undefined {
    return this.jobs.find(job => job.upstreamId === upstreamId)
  }

  /** By our own id; undefined also while the submit is still on its way. */
  findOurs(jobId: string, nowMs: number): UpstreamJob | undefined {
    return this.jobs.find(job => job.jobId === jobId && job.storedAtMs <= nowMs)
  }
}
