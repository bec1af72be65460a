import { GatewayError } from '../../../domain/errors.ts'
import { idNumber } from '../../../domain/ids.ts'
import type { Hold } from '../../../gateway/ports/ledger.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import type { WriteOptions } from '../../books/steps.ts'
import { ANSWER_TIMEOUT_MS, LaneWriter, type Recovered, type WriterSettings } from './lane-writer.ts'
import type { Answers, AskedCharge, ChargeAnswer, HoldAnswer } from './post.ts'
import type { Work } from './step-writes.ts'

/** The first caller of a longer batch would wait too long for the work of the others. */
const BATCH_MAX = 256
/** Far more than a node has in flight. A database that does not answer must not fill the memory. */
const WAITING_MAX = 65_536
/** A lane without work stores the commit of its last batch after this time. */
const IDLE_SEAL_MS = 50

type BatchSettings = WriterSettings & {
  /** Hears of each account whose hold ended or that was charged, before the callers get their answers. */
  readonly onFreed?: (accountId: number) => void
  /** Hears that a batch recorded alerts whose events are not written yet. */
  readonly onAlerts?: () => void
}

type Answer<T> = Pick<PromiseWithResolvers<T>, 'resolve' | 'reject'>

/** A part of a batch, which waits for it. */
type Part =
  | { readonly kind: 'hold'; readonly hold: TextHoldTerms; readonly answer: Answer<HoldAnswer> }
  | ({ readonly kind: 'charge'; readonly answer: Answer<ChargeAnswer> } & AskedCharge)
  | { readonly kind: 'end'; readonly hold: Hold; readonly answer: Answer<void> }
type WaitingStep = {
  readonly kind: 'step'
  /** True for the end of work: it waits for a lost database instead of being refused. */
  readonly canWait: boolean
  readonly work: Work<unknown>
  readonly answer: Answer<unknown>
}
type Waiting = Part | WaitingStep

/**
 * Collects the work of many callers and writes it in batches. One batch at a time is on its way, so a slow database
 * makes the batches larger. Callers get their answers when their batch is on disk.
 *
 * If the database does not answer, holds are refused, because their requests have not begun. The charges and ends of
 * running requests wait until it answers again.
 */
export class Batches {
  readonly #writer: LaneWriter
  readonly #onFreed: (accountId: number) => void
  readonly #onAlerts: () => void
  #waiting: Waiting[] = []
  /** Undefined while no batch is on its way. */
  #work: Promise<void> | undefined
  /** Why nothing can be written now. */
  #failure: GatewayError | undefined
  #sealing: Timer | undefined
  #closing: Promise<void> | undefined

  private constructor(writer: LaneWriter, settings: BatchSettings) {
    const { onFreed = () => undefined, onAlerts = () => undefined } = settings
    this.#writer = writer
    this.#onFreed = onFreed
    this.#onAlerts = onAlerts
  }

  /** Takes a lane. */
  static async open(settings: BatchSettings): Promise<Batches> {
    return new Batches(await LaneWriter.claim(settings), settings)
  }

  get lane(): bigint {
    return this.#writer.lane
  }

  /** The name of this process in its lane. It changes if another process takes the lane. */
  get process(): string {
    return this.#writer.process
  }

  /** False while the database does not answer. */
  get isWritable(): boolean {
    return this.#failure === undefined
  }

  /** Which batches the database lost, if it lost any that it had acknowledged. Nothing is written after that. */
  get lost(): string | undefined {
    const { code, cause } = this.#failure ?? {}
    return code === 'books_inconsistent' && cause instanceof Error ? cause.message : undefined
  }

  place(hold: TextHoldTerms): Promise<HoldAnswer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return this.#ask(answer => ({ kind: 'hold', hold, answer }))
  }

  charge(asked: AskedCharge): Promise<ChargeAnswer> {
    return this.#ask(answer => ({ kind: 'charge', ...asked, answer }))
  }

  /** Ends a hold without a charge. Repeating it changes nothing. */
  end(hold: Hold): Promise<void> {
    return this.#ask(answer => ({ kind: 'end', hold, answer }))
  }

  /**
   * Runs work in a transaction of its own. Rejects with what it throws; it then has written nothing. If the database
   * does not answer in time, it rejects with `unavailable`, and may have been written. Work that belongs to a running
   * request waits for a lost database, and may run twice if its commit is not answered.
   */
  run<T>(work: Work<T>, { canWait }: WriteOptions = { canWait: false }): Promise<T> {
    if (this.#failure !== undefined && !canWait) return Promise.reject(this.#failure)
    return this.#ask<unknown>(answer => ({ kind: 'step', canWait, work, answer })) as Promise<T>
  }

  /** Shows that the lane is in use, so that its holds do not expire. Each batch does, too. */
  renew(): Promise<void> {
    return this.run(async () => undefined)
  }

  /**
   * Refuses later work, writes the work that waits, ends the text holds of this node and gives the lane back. Repeating
   * it changes nothing.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#failure = new GatewayError('unavailable', 'The store is closing.')
    this.#writer.giveUp()
    await this.#work
    clearTimeout(this.#sealing)
    await this.#writer.close()
  }

  #ask<T>(make: (answer: Answer<T>) => Waiting): Promise<T> {
    if (this.#closing !== undefined)
      return Promise.reject(new GatewayError('unavailable', 'The store is closing.'))
    if (this.#waiting.length >= WAITING_MAX)
      return Promise.reject(
        new GatewayError('unavailable', 'The store has too many writes waiting. Try again shortly.'),
      )
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push(make({ resolve, reject }))
    this.#work ??= this.#writeWaiting()
    return promise
  }

  async #writeWaiting(): Promise<void> {
    clearTimeout(this.#sealing)
    // The work of this turn of the event loop shares a batch.
    await new Promise(resolve => setImmediate(resolve))
    while (this.#waiting.length > 0) await this.#writeNext()
    this.#work = undefined
    if (this.#writer.isUnsealed) this.#sealing = setTimeout(() => this.#seal(), IDLE_SEAL_MS)
  }

  #seal(): void {
    this.#work ??= this.#writeParts([]).finally(() => {
      this.#work = undefined
      if (this.#waiting.length > 0) this.#work = this.#writeWaiting()
    })
  }

  #writeNext(): Promise<void> {
    const first = this.#waiting[0]
    if (first?.kind !== 'step') return this.#writeParts(this.#takeParts())
    this.#waiting.shift()
    return this.#runStep(first)
  }

  /** The next parts, until the first step. Of several parts with one id, the later ones wait for the next batch. */
  #takeParts(): readonly Part[] {
    const parts: Part[] = []
    const left: Waiting[] = []
    const ids = new Set<bigint>()
    let canTake = true
    for (const waiting of this.#waiting) {
      canTake &&= waiting.kind !== 'step' && parts.length < BATCH_MAX
      const id = canTake && waiting.kind !== 'step' ? idNumber(waiting.hold.id) : undefined
      if (id === undefined || waiting.kind === 'step' || ids.has(id)) left.push(waiting)
      else {
        ids.add(id)
        parts.push(waiting)
      }
    }
    this.#waiting = left
    return parts
  }

  async #writeParts(parts: readonly Part[]): Promise<void> {
    const charges = parts.filter(part => part.kind === 'charge')
    const ends = parts.filter(part => part.kind === 'end')
    const holds = parts.filter(part => part.kind === 'hold')
    const written = await this.#writer.post({
      charges,
      ends: ends.map(({ hold }) => hold),
      holds: holds.map(({ hold }) => hold),
    })
    if (written.outcome === 'committed') return this.#answer({ charges, ends, holds }, written.result)
    if (written.outcome === 'refused') return this.#writeApart(parts, written.cause)
    if (written.outcome === 'fenced') this.#waiting.unshift(...parts)
    else {
      this.#fail(written.cause)
      // A hold that was placed all the same is ended, because its request does not run.
      const ended = holds.map(({ hold }): Part => ({ kind: 'end', hold, answer: NOBODY }))
      this.#waiting.unshift(...charges, ...ends, ...ended)
      for (const { answer } of holds) answer.reject(notRecorded(written.cause))
    }
    await this.#recover()
  }

  /** One part that the database refuses must not fail the others. */
  async #writeApart(parts: readonly Part[], cause: unknown): Promise<void> {
    if (parts.length <= 1) {
      for (const { answer } of parts) answer.reject(notRecorded(cause))
      return
    }
    const half = Math.ceil(parts.length / 2)
    await this.#writeParts(parts.slice(0, half))
    await this.#writeParts(parts.slice(half))
  }

  async #runStep(waiting: WaitingStep): Promise<void> {
    const { work, canWait, answer } = waiting
    const startedAtMs = performance.now()
    const written = await this.#writer.run(work)
    if (written.outcome === 'committed') return answer.resolve(written.result)
    if (written.outcome === 'refused') return answer.reject(written.cause)
    if (written.outcome === 'unanswered') this.#fail(written.cause)
    // Its caller hears soon, also if nobody knows yet whether it was committed.
    const leftMs = Math.max(0, startedAtMs + ANSWER_TIMEOUT_MS - performance.now())
    let isRejected = false
    const reject = () => {
      isRejected = true
      answer.reject(notRecorded(written.cause))
    }
    const late = canWait ? undefined : setTimeout(reject, leftMs)
    const recovered = await this.#recover().finally(() => clearTimeout(late))
    if (recovered?.fate === 'committed' && recovered.step !== undefined) answer.resolve(recovered.step.result)
    else if (this.isWritable && (canWait || (written.outcome === 'fenced' && !isRejected)))
      this.#waiting.unshift(waiting)
    else answer.reject(this.#failure ?? notRecorded(written.cause))
  }

  /** The database does not answer: refuses the work that belongs to no running request. */
  #fail(cause: unknown): void {
    this.#failure ??= notRecorded(cause)
    const waiting = this.#waiting
    this.#waiting = waiting.filter(mayWait)
    for (const refused of waiting) if (!mayWait(refused)) refused.answer.reject(this.#failure)
  }

  async #recover(): Promise<Recovered | undefined> {
    try {
      const recovered = await this.#writer.recover(cause => this.#fail(cause))
      if (this.#closing === undefined) this.#failure = undefined
      return recovered
    } catch (error) {
      this.#failure = error instanceof GatewayError ? error : notRecorded(error)
      const waiting = this.#waiting
      this.#waiting = []
      for (const { answer } of waiting) answer.reject(this.#failure)
      return undefined
    }
  }

  #answer(
    parts: {
      readonly charges: readonly Extract<Part, { kind: 'charge' }>[]
      readonly ends: readonly Extract<Part, { kind: 'end' }>[]
      readonly holds: readonly Extract<Part, { kind: 'hold' }>[]
    },
    answers: Answers,
  ): void {
    const { charges, ends, holds } = parts
    for (const { hold } of [...charges, ...ends]) this.#onFreed(hold.accountId)
    for (const [index, { answer }] of charges.entries()) resolveWith(answer, answers.charges[index])
    for (const { answer } of ends) answer.resolve()
    for (const [index, { answer }] of holds.entries()) resolveWith(answer, answers.holds[index])
    if (answers.hasAlerts) this.#onAlerts()
  }
}

/** Whether it belongs to a request that runs. */
function mayWait(waiting: Waiting): boolean {
  return waiting.kind === 'step' ? waiting.canWait : waiting.kind !== 'hold'
}

function resolveWith<T>(answer: Answer<T>, found: T | undefined): void {
  if (found === undefined) answer.reject(new Error('The batch has no answer for a part of it.'))
  else answer.resolve(found)
}

/** The answer of a part that no caller waits for. */
const NOBODY: Answer<void> = { resolve: () => undefined, reject: () => undefined }

/** The error for callers whose work was not written. A retry can help. */
function notRecorded(cause: unknown): GatewayError {
  return new GatewayError('unavailable', 'The gateway could not record this. Try again shortly.', {
    retryAfter: '5',
    cause,
  })
}
