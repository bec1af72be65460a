import type { Id } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { jobKey } from './job-id.ts'
import { pollJob, recoverJob, watchJob, type Polled } from './ask-provider.ts'
import { settleJob } from './settle-job.ts'
import { submitJob, type SubmitPorts } from './submit-job.ts'

/** The pause before the work of a job is tried again after it failed. */
const RETRY_PAUSE_MS = 2000

/** Work for a job. Both promises reject if it fails. */
type Work = {
  /** Resolves when the provider has answered, and the answer is recorded or its result is being fetched. */
  readonly answered: Promise<unknown>
  /** Resolves with the job after the work. */
  readonly done: Promise<Job>
}

/** The provider has answered. `settled` resolves with the job after the fetch of its result too, if there is one. */
type Asked = { readonly settled: Promise<Job> }

/**
 * Does the work of jobs on this node. It makes one call to the provider for a job at a time, and all callers share that
 * call. The work belongs to the job, not to the request that began it. A waiting request is notified here when the job
 * changes on this node. It sees changes by other nodes when it reads the job again. Work that fails is reported here,
 * once.
 */
export class JobRunner {
  readonly #ports: SubmitPorts
  readonly #running = new Map<string, Work>()
  /** The jobs whose work failed a moment ago. */
  readonly #paused = new Set<string>()
  readonly #submissions = new Set<Promise<Job>>()

  constructor(ports: SubmitPorts) {
    this.#ports = ports
  }

  /** The number of jobs that this node is working on. */
  get running(): number {
    return this.#running.size
  }

  /** Submits a new job in the background. */
  start(job: Job): void {
    const { done } = this.#work(job, async () => ({ job: await submitJob(job, this.#ports) }))
    this.#submissions.add(done)
    const end = () => this.#submissions.delete(done)
    void done.then(end, end)
  }

  /**
   * Asks the provider for the state of a job, and ends the job if the provider has. Does nothing before the job's next
   * poll is due, or shortly after its work failed. Resolves with the job in its new state.
   */
  async poll(job: Job): Promise<Job> {
    return (await this.ask(job)).settled
  }

  /** Like `poll`, but resolves when the provider has answered. The fetch of a result continues in the background. */
  async ask(job: Job): Promise<Asked> {
    if (!this.isRunning(job.id) && !this.#isDue(job)) return { settled: Promise.resolve(job) }
    return asked(
      this.#work(job, async () => {
        // It may have been polled, or have ended, since it was read.
        const latest = (await this.#ports.jobs.find(job.id)) ?? job
        return this.#isDue(latest) ? pollJob(latest, this.#ports) : { job: latest }
      }),
    )
  }

  /**
   * Asks the provider whether it has the job of an unknown submission. Resolves when the provider has answered. Does
   * nothing while this node works on the job.
   */
  async recover(job: Job): Promise<Asked> {
    if (this.isRunning(job.id)) return { settled: Promise.resolve(job) }
    return asked(this.#work(job, () => recoverJob(job, this.#ports)))
  }

  /**
   * Asks the provider whether it finished a job whose money was released. True if this call booked the loss. Does
   * nothing while this node works on the job.
   */
  async watch(job: Job): Promise<boolean> {
    if (this.isRunning(job.id)) return false
    let isBooked = false
    const { done } = this.#work(job, async () => {
      isBooked = await watchJob(job, this.#ports)
      return { job }
    })
    await done
    return isBooked
  }

  /**
   * Resolves with the job after the work that this node does for it, or starts now. Resolves at once if there is no
   * work.
   */
  async follow(job: Job): Promise<Job> {
    return this.#running.get(jobKey(job.id))?.done ?? this.poll(job)
  }

  isRunning(id: Id): boolean {
    return this.#running.has(jobKey(id))
  }

  /** Resolves when the work in progress has ended. */
  async idle(): Promise<void> {
    while (this.#running.size > 0)
      await Promise.allSettled([...this.#running.values()].map(({ done }) => done))
  }

  /** The number of submissions in progress. */
  get submissions(): number {
    return this.#submissions.size
  }

  /** Resolves when no submission is in progress. If a submission is cut off, its answer is lost. */
  async submissionsEnded(): Promise<void> {
    while (this.#submissions.size > 0) await Promise.allSettled(this.#submissions)
  }

  #isDue({ id, state, nextPollAtMs }: Job): boolean {
    const isPaused = this.#paused.has(jobKey(id))
    return state === 'processing' && nextPollAtMs <= this.#ports.clock.now() && !isPaused
  }

  /** Begins work, or shares the work in progress for the job. */
  #work(job: Job, begin: () => Promise<Polled>): Work {
    const key = jobKey(job.id)
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const answered = begin()
    const done = answered
      .then(({ job, result }) => (result === undefined ? job : settleJob(job, result, this.#ports)))
      .catch((error: unknown) => {
        this.#pauseRetries(key)
        this.#ports.onFailed(error)
        throw error
      })
      .finally(() => this.#running.delete(key))
    // A failure is reported above, so it must not count as an unhandled rejection when no caller waits.
    done.catch(() => undefined)
    const work = { answered, done }
    this.#running.set(key, work)
    return work
  }

  /** Failed work stores no time for the next poll. Without a pause, a waiting request would poll in a tight loop. */
  #pauseRetries(key: string): void {
    this.#paused.add(key)
    this.#ports.clock.after(RETRY_PAUSE_MS, () => this.#paused.delete(key))
  }
}

async function asked({ answered, done }: Work): Promise<Asked> {
  await answered
  return { settled: done }
}
