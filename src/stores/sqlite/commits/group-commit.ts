import type { GatewayError } from '../../../domain/errors.ts'
import { storeClosing, tooManyWaiting, WAITING_MAX } from '../../books/store-errors.ts'
import type { NodeChain } from './node-chain.ts'
import type { Transactions, Write } from './transactions.ts'

/** The first caller of a longer batch would wait too long for the writes of the others. */
const BATCH_MAX = 256
/**
 * The pause after a commit of several writes, so that under load more of them share each commit: a commit costs as much
 * as writing ten charges. There is no pause after a single write, so one sequential client never waits.
 */
const PAUSE_MS = 2

type After = (delayMs: number, then: () => void) => void

/**
 * Collects the writes of many callers and commits them together: a commit waits for the disk, whatever its size. Those
 * that wait at the end of a turn of the event loop are committed then, or after the pause.
 */
export class GroupCommit {
  readonly #transactions: Transactions
  readonly #author: NodeChain | undefined
  readonly #after: After
  #waiting: Write[] = []
  #isClosed = false
  /** True if a commit follows at the end of this turn. */
  #isPlanned = false
  #isPausing = false

  constructor(
    transactions: Transactions,
    {
      author,
      after = (delayMs, then) => void setTimeout(then, delayMs),
    }: { readonly author?: NodeChain; readonly after?: After } = {},
  ) {
    this.#transactions = transactions
    this.#author = author
    this.#after = after
  }

  /**
   * Resolves with the result of `work` once it is on disk. If `work` throws, it writes nothing and the promise rejects
   * with its error. If the commit fails, the promises of the whole batch reject.
   *
   * `work` is synchronous and may run again after a rollback, so it keeps nothing outside the database except what a
   * participant of the transactions restores.
   */
  run<T>(work: () => T): Promise<T> {
    const refusal = this.#refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    const waiting = new WaitingWrite(work)
    this.#waiting.push(waiting)
    this.#plan()
    return waiting.outcome
  }

  /** Commits the waiting writes now, and refuses later ones with `unavailable`. */
  close(): void {
    this.#isClosed = true
    while (this.#waiting.length > 0) this.#commitBatch()
  }

  #refusal(): GatewayError | undefined {
    if (this.#isClosed) return storeClosing()
    return this.#waiting.length < WAITING_MAX ? undefined : tooManyWaiting()
  }

  #plan(): void {
    if (this.#isPlanned || this.#waiting.length === 0) return
    if (this.#isPausing && this.#waiting.length < BATCH_MAX) return
    this.#isPlanned = true
    setImmediate(() => this.#commitPlanned())
  }

  #commitPlanned(): void {
    this.#isPlanned = false
    const committed = this.#commitBatch()
    if (committed > 1 && !this.#isPausing) {
      this.#isPausing = true
      this.#after(PAUSE_MS, () => {
        this.#isPausing = false
        this.#plan()
      })
    }
    this.#plan()
  }

  /** Returns the number of writes in the batch. */
  #commitBatch(): number {
    const batch = this.#waiting
    this.#waiting = batch.length > BATCH_MAX ? batch.splice(BATCH_MAX) : []
    this.#transactions.commit(batch, this.#author)
    return batch.length
  }
}

/** The work of a caller, and the promise of its result. */
class WaitingWrite<T> implements Write {
  readonly #work: () => T
  readonly #outcome = Promise.withResolvers<T>()
  #result!: T

  constructor(work: () => T) {
    this.#work = work
  }

  get outcome(): Promise<T> {
    return this.#outcome.promise
  }

  run(): void {
    this.#result = this.#work()
  }

  committed(): void {
    this.#outcome.resolve(this.#result)
  }

  failed(error: unknown): void {
    this.#outcome.reject(error)
  }
}
