import type { Id } from '../../../domain/ids.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import { jobKey } from '../job-id.ts'
import { POLL_TIMEOUT_MS, pollJob, recoverJob, watchJob, type Polled } from './ask-provider.ts'
import { settleJob } from '../settle/settle-job.ts'
import { submitJob, type SubmitPorts, type SubmitSettings } from './submit-job.ts'

/** The pause before the work of a job is tried again after it failed. */
const RETRY_PAUSE_MS = 2000

/**
 * How long a job is claimed for a call to its provider: longer than the call and what precedes it. If this node dies,
 * another one calls the provider after this time.
 */
export const CALL_CLAIM_MS = POLL_TIMEOUT_MS + 10_000

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
  readonly #settings: SubmitSettings
  readonly #running = new Map<string, Work>()
  /** The jobs whose work failed a moment ago. */
  readonly #paused = new Set<string>()
  readonly #submissions = new Set<Promise<Job>>()

  constructor(ports: SubmitPorts, settings: SubmitSettings) {
    this.#ports = ports
    this.#settings = settings
  }

  /** The number of jobs that this node is working on. */
  get running(): number {
    return this.#running.size
  }

  /** Submits a new job in the background. */
  start(job: Job): void {
    const begin = async () => ({ job: await submitJob(job, this.#ports, this.#settings) })
    const { done } = this.#work(job, begin)
    this.#submissions.add(done)
    const end = () => this.#submissions.delete(done)
    void done.then(end, end)
  }

  /**
   * Asks the provider for the state of a job, and ends the job if the provider has. Does nothing before the job's next
   * poll is due, shortly after its work failed, or while another node asks. A poll may be `earlyMs` before it is due.
   * Resolves with the job in its new state.
   */
  async poll(job: Job, { earlyMs = 0 }: { readonly earlyMs?: number } = {}): Promise<Job> {
    if (!this.isRunning(job.id) && !this.#isDue(job, earlyMs)) return job
    const { jobs, clock } = this.#ports
    const atMs = clock.now()
    const claimedUntilMs = atMs + CALL_CLAIM_MS
    const begin = async () => {
      const page = await jobs.claim('poll', { atMs: atMs + earlyMs, limit: 1, id: job.id }, claimedUntilMs)
      const [claimed] = page.jobs
      if (claimed !== undefined) return pollJob(claimed, this.#ports)
      // It was polled, or has ended, since it was read.
      return { job: (await jobs.find(job.id)) ?? job }
    }
    return (await asked(this.#work(job, begin, claimedUntilMs))).settled
  }

  /**
   * Like `poll`, for a job that the caller has claimed. Resolves when the provider has answered. The fetch of a result
   * continues in the background.
   */
  async pollClaimed(claimed: Job): Promise<Asked> {
    if (this.isRunning(claimed.id) || this.#isPaused(claimed.id)) return this.#giveBack(claimed)
    return asked(this.#work(claimed, () => pollJob(claimed, this.#ports), claimed.nextPollAtMs))
  }

  /**
   * Asks the provider whether it has the job of an unknown submission, which the caller has claimed. Resolves when the
   * provider has answered. Does nothing while this node works on the job.
   */
  async recover(claimed: Job): Promise<Asked> {
    if (this.isRunning(claimed.id)) return this.#giveBack(claimed)
    const begin = async () => {
      const recovered = await recoverJob(claimed, this.#ports)
      if (recovered.job.state === claimed.state) await this.#endClaim(claimed.id, claimed.nextPollAtMs)
      return recovered
    }
    return asked(this.#work(claimed, begin, claimed.nextPollAtMs))
  }

  /**
   * Asks the provider whether it finished a job whose money was released, and which the caller has claimed. True if
   * this call booked the loss. Does nothing while this node works on the job.
   */
  async watch(claimed: Job): Promise<boolean> {
    if (this.isRunning(claimed.id)) {
      await this.#giveBack(claimed)
      return false
    }
    let isBooked = false
    const begin = async () => {
      isBooked = await watchJob(claimed, this.#ports)
      if (!isBooked) await this.#endClaim(claimed.id, claimed.nextPollAtMs)
      return { job: claimed }
    }
    await this.#work(claimed, begin, claimed.nextPollAtMs).done
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

  #isDue({ id, state, nextPollAtMs }: Job, earlyMs: number): boolean {
    const isDue = nextPollAtMs <= this.#ports.clock.now() + earlyMs
    return state === 'processing' && isDue && !this.#isPaused(id)
  }

  #isPaused(id: Id): boolean {
    return this.#paused.has(jobKey(id))
  }

  /** Ends the claim of a job that this node will not ask about now. */
  async #giveBack(claimed: Job): Promise<Asked> {
    await this.#endClaim(claimed.id, claimed.nextPollAtMs)
    return { settled: Promise.resolve(claimed) }
  }

  async #endClaim(id: Id, claimedUntilMs: number): Promise<void> {
    const { jobs, clock } = this.#ports
    await jobs.endClaim(id, { claimedUntilMs, atMs: clock.now() })
  }

  /** Begins work, or shares the work in progress for the job. Work that fails ends its claim, if it has one. */
  #work(job: Job, begin: () => Promise<Polled>, claimedUntilMs?: number): Work {
    const key = jobKey(job.id)
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const answered = begin()
    const done = answered
      .then(({ job, result }) => (result === undefined ? job : settleJob(job, result, this.#ports)))
      .catch(async (error: unknown) => {
        this.#pauseRetries(key)
        this.#ports.onFailed(error)
        if (claimedUntilMs !== undefined)
          await this.#endClaim(job.id, claimedUntilMs).catch(this.#ports.onFailed)
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
