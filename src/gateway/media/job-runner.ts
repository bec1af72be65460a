import { formatId, type Id } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { Clock } from '../ports/clock.ts'
import { pollJob } from './poll-job.ts'
import { submitJob, type SubmitPorts } from './submit-job.ts'

/** How long a poll of one job may keep another poll of it away. */
export const POLL_EVERY_MS_MIN = 2000

export type RunnerPorts = SubmitPorts & {
  readonly clock: Clock
  /** Receives what went wrong outside of any request. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Does the work of jobs on this node: one submit or poll of a job at a time, whoever asks for it. The work belongs to the job, not
 * to the request that began it. Requests that wait learn here when a job has moved; another node's move they see when they read the
 * job again.
 */
export class JobRunner {
  readonly #ports: RunnerPorts
  readonly #running = new Map<string, Promise<Job>>()
  /** Jobs whose work failed a moment ago. */
  readonly #resting = new Set<string>()

  constructor(ports: RunnerPorts) {
    this.#ports = ports
  }

  /** How many jobs this node works on now. */
  get running(): number {
    return this.#running.size
  }

  /** Submits a new job in the background. */
  start(job: Job): void {
    void this.#work(job, () => submitJob(job, this.#ports)).catch(this.#ports.onFailed)
  }

  /**
   * Asks the provider how a job is, and moves the job where that ends it. Shares the work with whoever is at the same job; does
   * nothing before the job's next poll is due, or shortly after its work failed. Resolves with the job as it is then.
   */
  async poll(job: Job): Promise<Job> {
    if (!this.isRunning(job.id) && !this.#isDue(job)) return job
    return this.#work(job, async () => {
      // It may have been polled, or have ended, since it was read.
      const latest = (await this.#ports.jobs.find(job.id)) ?? job
      return this.#isDue(latest) ? pollJob(latest, this.#ports) : latest
    })
  }

  /**
   * Resolves with the job after what this node does for it now, or begins to do; at once, with the job, where there is nothing to do.
   */
  async follow(job: Job): Promise<Job> {
    return this.#running.get(keyOf(job.id)) ?? this.poll(job)
  }

  isRunning(id: Id): boolean {
    return this.#running.has(keyOf(id))
  }

  /** Resolves when the work under way has ended. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values())
  }

  #isDue({ id, state, nextPollAtMs }: Job): boolean {
    const isResting = this.#resting.has(keyOf(id))
    return state === 'processing' && nextPollAtMs <= this.#ports.clock.now() && !isResting
  }

  #work(job: Job, work: () => Promise<Job>): Promise<Job> {
    const key = keyOf(job.id)
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const done = work()
      .catch((error: unknown) => {
        this.#rest(key)
        throw error
      })
      .finally(() => this.#running.delete(key))
    this.#running.set(key, done)
    return done
  }

  /** What failed wrote no time for its next poll. Without a pause a waiting request would poll as fast as it can. */
  #rest(key: string): void {
    this.#resting.add(key)
    this.#ports.clock.after(POLL_EVERY_MS_MIN, () => this.#resting.delete(key))
  }
}

function keyOf(id: Id): string {
  return formatId('op', id)
}
