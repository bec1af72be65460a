import { GatewayError } from '../../../domain/errors.ts'
import type { Hold } from '../../../gateway/ports/ledger/ledger.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import type { WriteOptions } from '../../books/steps.ts'
import { notRecorded, storeClosing, tooManyWaiting, WAITING_MAX } from '../../books/store-errors.ts'
import { isConnectionGone } from '../database/database-errors.ts'
import { ANSWER_TIMEOUT_MS, LaneWriter, tell, type Recovered, type WriterSettings } from './lane-writer.ts'
import type { Answers, AskedCharge, ChargeAnswer, HoldAnswer } from './post.ts'
import type { Work } from './step-writes.ts'
import {
  mayWait,
  WaitingWork,
  type Answer,
  type Part,
  type PartBatch,
  type WaitingStep,
} from './waiting-work.ts'

/** A lane without work stores the commit of its last batch after this time. */
const IDLE_SEAL_MS = 50

/** The pause between attempts to write in a database that answers, and cannot write. */
const RETRY_MS = 1000
/** How often a batch of parts is tried at once if other transactions are in its way. */
const BATCH_TRIES_MAX = 3
/** How often a step is tried if other transactions are in its way: for ten seconds, if it waits for locks. */
const STEP_TRIES_MAX = 40
/** The same, for the end of work, which is worth more patience. */
const END_TRIES_MAX = 400
/** How often the end of work is tried while the database does not answer: the work itself may take it too long. */
const UNANSWERED_MAX = 5
/** After this many refused charges without a written one between them, the fault is hardly that of each of them. */
const REFUSED_CHARGES_MAX = 3
/** How often such a charge is tried, once a second, before it is refused all the same: new requests must be let in. */
const REFUSALS_MAX = 300
/** How often a step is tried if its node is too slow each time, before its caller is refused. */
const SLOW_TRIES_MAX = 3

type BatchSettings = WriterSettings & {
  /** Called with each account whose hold ended or that was charged, before the callers get their answers. */
  readonly onFreed?: (accountId: number) => void
  /** Called after a batch that recorded alerts whose events are not written yet. */
  readonly onAlerts?: () => void
  /** Replaces the number of times that an unfit charge is tried, for tests. */
  readonly refusalsMax?: number
}

/**
 * Collects the work of many callers and writes it in batches. One batch at a time is on its way, so a slow database
 * makes the batches larger. Callers get their answers when their batch is on disk.
 *
 * If the database does not answer or cannot write, holds are refused until a batch is committed, because their requests
 * have not begun. The charges and ends of running requests wait.
 */
export class Batches {
  readonly #writer: LaneWriter
  readonly #onFreed: (accountId: number) => void
  readonly #onAlerts: () => void
  readonly #refusalsMax: number
  readonly #waiting = new WaitingWork()
  /** Undefined while no batch is on its way. */
  #work: Promise<void> | undefined
  /** Why nothing can be written now. A committed batch ends it; after too many refused charges, a written charge. */
  #failure: GatewayError | undefined
  /** The charges that were refused alone since one was written. */
  #refusedCharges = 0
  /** Why nothing is written any more. */
  #end: GatewayError | undefined
  #sealing: Timer | undefined
  #closing: Promise<void> | undefined

  private constructor(writer: LaneWriter, settings: BatchSettings) {
    const { onFreed = () => undefined, onAlerts = () => undefined } = settings
    this.#writer = writer
    this.#onFreed = onFreed
    this.#onAlerts = onAlerts
    this.#refusalsMax = settings.refusalsMax ?? REFUSALS_MAX
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

  /** False from the first write that fails until a batch is committed. */
  get isWritable(): boolean {
    return this.#refusal === undefined
  }

  /** Which batches the database lost, if it lost any that it had acknowledged. Nothing is written after that. */
  get lost(): string | undefined {
    const { code, cause } = this.#end ?? {}
    return code === 'books_inconsistent' && cause instanceof Error ? cause.message : undefined
  }

  place(hold: TextHoldTerms): Promise<HoldAnswer> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
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
   * request waits for a lost database, and may run twice if its commit is not answered. `committed` hears of the result
   * before the caller, and also if the caller was refused before the database answered.
   */
  run<T>(
    work: Work<T>,
    { canWait, committed }: WriteOptions & { readonly committed?: (result: T) => void } = { canWait: false },
  ): Promise<T> {
    if (this.#refusal !== undefined && !canWait) return Promise.reject(this.#refusal)
    const asked = { kind: 'step', canWait, work, tries: 0, losses: 0 } as const
    return this.#ask<unknown>(answer => ({
      ...asked,
      answer,
      committed: result => committed?.(result as T),
    })) as Promise<T>
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
    this.#end ??= storeClosing()
    this.#writer.giveUp()
    await this.#work
    clearTimeout(this.#sealing)
    await this.#writer.close()
  }

  /** Why work that has not begun is refused. */
  get #refusal(): GatewayError | undefined {
    return this.#end ?? this.#failure
  }

  #ask<T>(make: (answer: Answer<T>) => Part | WaitingStep): Promise<T> {
    if (this.#end !== undefined) return Promise.reject(this.#end)
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(tooManyWaiting())
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.add(make({ resolve, reject }))
    this.#work ??= this.#writeWaiting()
    return promise
  }

  /** Writes until nothing waits and the last write succeeded. Without work, it writes an empty batch to find out. */
  async #writeWaiting(): Promise<void> {
    clearTimeout(this.#sealing)
    // The work of this turn of the event loop shares a batch.
    await new Promise(resolve => setImmediate(resolve))
    do {
      const next = this.#waiting.next()
      await (next.kind === 'step' ? this.#runStep(next) : this.#writeBatch(next))
    } while (!this.#waiting.isEmpty || (this.#failure !== undefined && this.#end === undefined))
    this.#work = undefined
    // An empty batch stores the commit of the last one.
    if (this.#writer.isUnsealed && this.#end === undefined)
      this.#sealing = setTimeout(() => {
        this.#work ??= this.#writeWaiting()
      }, IDLE_SEAL_MS)
  }

  async #writeBatch({ parts, tries }: PartBatch): Promise<void> {
    const charges = parts.filter(part => part.kind === 'charge')
    const ends = parts.filter(part => part.kind === 'end')
    const holds = parts.filter(part => part.kind === 'hold')
    const written = await this.#writer.post({
      charges,
      ends: ends.map(({ hold }) => hold),
      holds: holds.map(({ hold }) => hold),
    })
    switch (written.outcome) {
      case 'committed':
        this.#noteWritten(parts, written.result)
        return this.#answerLater({ charges, ends, holds }, written.result)
      case 'refused':
        return this.#settleRefused(parts, written.cause)
      case 'overtaken':
        if (tries + 1 < BATCH_TRIES_MAX) return this.#waiting.putBack(parts, tries + 1)
        this.#waiting.putBack(parts, 0)
        return this.#pause(written.cause)
      case 'later':
        this.#waiting.putBack(parts, 0)
        return this.#pause(written.cause)
      case 'fenced':
      case 'idle':
        this.#waiting.putBack(parts, tries)
        await this.#recover()
        return
      case 'unanswered': {
        refuse(holds, notRecorded(written.cause))
        // A hold that was placed all the same is ended, because its request does not run.
        const ended = holds.map(({ hold }): Part => ({ kind: 'end', hold, answer: NOBODY }))
        this.#putBackUnanswered([...charges, ...ends, ...ended], tries, written.cause)
        this.#fail(written.cause)
        await this.#recover()
      }
    }
  }

  /** What is lost with its connection says nothing of the batch. Anything else may be the fault of one of its parts. */
  #putBackUnanswered(parts: readonly Part[], tries: number, cause: unknown): void {
    if (isConnectionGone(cause)) this.#waiting.putBack(parts, 0)
    else if (parts.length > 1) this.#waiting.putBackApart(parts, tries)
    else if (tries + 1 < UNANSWERED_MAX) this.#waiting.putBack(parts, tries + 1)
    else refuse(parts, notRecorded(cause))
  }

  /** Refuses the part that is at fault alone. If the database refuses one charge after the other, they wait. */
  async #settleRefused(parts: readonly Part[], cause: unknown): Promise<void> {
    const [part] = parts
    if (part === undefined) return this.#pause(cause)
    if (parts.length > 1) return this.#waiting.putBackApart(parts, 0)
    if (part.kind === 'charge') this.#refusedCharges += 1
    if (part.kind !== 'charge' || this.#refusedCharges <= REFUSED_CHARGES_MAX)
      return refuse(parts, notRecorded(cause))
    const refusals = (part.refusals ?? 0) + 1
    if (refusals >= this.#refusalsMax) return refuse(parts, notRecorded(cause))
    // Behind the others, one of which may be written.
    this.#waiting.add({ ...part, refusals })
    return this.#waiting.hasBatches ? this.#fail(cause) : this.#pause(cause)
  }

  /** Only a written charge shows that charges can be written. If none waits, new requests are let in to find out. */
  #noteWritten(parts: readonly Part[], answers: Answers): void {
    if (answers.charges.some(answer => 'captured' in answer)) this.#refusedCharges = 0
    if (parts.length === 0) this.#refusedCharges = Math.min(this.#refusedCharges, REFUSED_CHARGES_MAX)
    this.#endFailure()
  }

  #endFailure(): void {
    if (this.#refusedCharges <= REFUSED_CHARGES_MAX) this.#failure = undefined
  }

  async #runStep(step: WaitingStep): Promise<void> {
    const startedAtMs = performance.now()
    const written = await this.#writer.run(step.work)
    switch (written.outcome) {
      case 'committed':
        this.#endFailure()
        return answerStep(step, written.result)
      case 'refused':
        return step.answer.reject(written.cause)
      case 'overtaken':
        if (step.tries + 1 < (step.canWait ? END_TRIES_MAX : STEP_TRIES_MAX))
          return this.#waiting.add({ ...step, tries: step.tries + 1 })
        return step.answer.reject(notRecorded(written.cause))
      case 'later':
        this.#waiting.putBackStep(step)
        return this.#pause(written.cause)
      case 'fenced':
        this.#waiting.putBackStep(step)
        await this.#recover()
        return
      case 'idle':
        // After other work, which it must not hold up if its node is too slow each time.
        if (step.losses + 1 < (step.canWait ? UNANSWERED_MAX : SLOW_TRIES_MAX))
          this.#waiting.add({ ...step, losses: step.losses + 1 })
        else step.answer.reject(notRecorded(written.cause))
        await this.#recover()
        return
      case 'unanswered':
        this.#fail(written.cause)
        return this.#settleStep(step, written.cause, startedAtMs + ANSWER_TIMEOUT_MS - performance.now())
    }
  }

  /** Finds out whether a step without an answer was committed. Its caller does not wait for long to be told. */
  async #settleStep(step: WaitingStep, cause: unknown, leftMs: number): Promise<void> {
    const { answer, canWait, losses } = step
    const reject = () => answer.reject(notRecorded(cause))
    const late = canWait ? undefined : setTimeout(reject, Math.max(0, leftMs))
    const recovered = await this.#recover()
    clearTimeout(late)
    if (recovered?.fate === 'committed' && recovered.step !== undefined)
      return answerStep(step, recovered.step.result)
    if (this.#end !== undefined) return answer.reject(this.#end)
    // After other work, which it must not hold up if it never fits.
    if (canWait && losses + 1 < UNANSWERED_MAX) this.#waiting.add({ ...step, losses: losses + 1 })
    else reject()
  }

  /** The database cannot write: refuses the work that belongs to no running request. */
  #fail(cause: unknown): void {
    this.#failure ??= notRecorded(cause)
    refuse(
      this.#waiting.takeOut(work => !mayWait(work)),
      this.#failure,
    )
  }

  /** The database answers and cannot write now. While the node closes, it is not tried again. */
  async #pause(cause: unknown): Promise<void> {
    this.#fail(cause)
    if (this.#end === undefined) await Bun.sleep(RETRY_MS)
    else
      refuse(
        this.#waiting.takeOut(() => true),
        this.#end,
      )
  }

  /** Undefined if nothing can be written any more: all work was then refused. */
  async #recover(): Promise<Recovered | undefined> {
    try {
      return await this.#writer.recover(cause => this.#fail(cause))
    } catch (error) {
      const end = error instanceof GatewayError ? error : notRecorded(error)
      this.#end ??= end
      refuse(
        this.#waiting.takeOut(() => true),
        end,
      )
      return undefined
    }
  }

  /** What the callers do with their answers takes longer than sending the next batch, so that is sent first. */
  #answerLater(parts: SortedParts, answers: Answers): void {
    if (this.#waiting.isEmpty) this.#answer(parts, answers)
    else setImmediate(() => this.#answer(parts, answers))
  }

  #answer({ charges, ends, holds }: SortedParts, answers: Answers): void {
    for (const { hold } of [...charges, ...ends]) tell(() => this.#onFreed(hold.accountId))
    for (const [index, { answer }] of charges.entries()) resolveWith(answer, answers.charges[index])
    for (const { answer } of ends) answer.resolve()
    for (const [index, { answer }] of holds.entries()) resolveWith(answer, answers.holds[index])
    if (answers.hasAlerts) tell(this.#onAlerts)
  }
}

/** The parts of a batch by kind. */
type SortedParts = {
  readonly charges: readonly Extract<Part, { kind: 'charge' }>[]
  readonly ends: readonly Extract<Part, { kind: 'end' }>[]
  readonly holds: readonly Extract<Part, { kind: 'hold' }>[]
}

function resolveWith<T>(answer: Answer<T>, found: T | undefined): void {
  if (found === undefined) answer.reject(new Error('The batch has no answer for a part of it.'))
  else answer.resolve(found)
}

/** Its caller may have been refused before, because the database did not answer in time. */
function answerStep({ committed, answer }: WaitingStep, result: unknown): void {
  tell(() => committed(result))
  answer.resolve(result)
}

function refuse(refused: readonly (Part | WaitingStep)[], error: GatewayError): void {
  for (const { answer } of refused) answer.reject(error)
}

/** The answer of a part that no caller waits for. */
const NOBODY: Answer<void> = { resolve: () => undefined, reject: () => undefined }
