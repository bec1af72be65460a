import { formatId, type Id } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { pollJob } from './poll-job.ts'
import { recoverJob } from './recover-job.ts'
import { submitJob, type SubmitPorts } from './submit-job.ts'
import { watchJob } from './watch-job.ts'

/** How long a job whose work failed is left alone. */
const REST_MS = 2000

/**
 * Does the work of jobs on this node: one call to the provider for a job at a time, which all that ask for it share.
 * The work belongs to the job, not to the request that began it. A request that waits learns here that a job has moved;
 * it sees the moves of other nodes when it reads the job again.
 */
export class JobRunner {
  readonly #ports: SubmitPorts
  readonly #running = new Map<string, Promise<Job>>()
  /** Jobs whose work failed a moment ago. */
  readonly #resting = new Set<string>()

  constructor(ports: SubmitPorts) {
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
   * Asks the provider how a job is, and moves the job where that ends it. Does nothing before the job's next poll is
   * due, or shortly after its work failed. Resolves with the job as it is then.
   */
  async poll(job: Job): Promise<Job> {
    if (!this.isRunning(job.id) && !this.#isDue(job)) return job
    return this.#work(job, async () => {
      // It may have been polled, or have ended, since it was read.
      const latest = (await this.#ports.jobs.find(job.id)) ?? job
      return this.#isDue(latest) ? pollJob(latest, this.#ports) : latest
    })
  }

  /** Asks the provider whether it has the job of an unknown submit. Does nothing while this node works on the job. */
  async recover(job: Job): Promise<Job> {
    return this.isRunning(job.id) ? job : this.#work(job, () => recoverJob(job, this.#ports))
  }

  /**
   * Asks the provider whether it finished a job whose money was released. True where that was booked now. Does nothing
   * while this node works on the job.
   */
  async watch(job: Job): Promise<boolean> {
    if (this.isRunning(job.id)) return false
    let isBooked = false
    await this.#work(job, async () => {
      isBooked = await watchJob(job, this.#ports)
      return job
    })
    return isBooked
  }

  /**
   * Resolves with the job after what this node does for it now, or begins to do; at once, with the job, where there is
   * nothing to do.
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
    this.#ports.clock.after(REST_MS, () => this.#resting.delete(key))
  }
}

function keyOf(id: Id): string {
  return formatId('op', id)
}
