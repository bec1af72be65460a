import { idNumber } from '../../../domain/ids.ts'
import type { Hold } from '../../../gateway/ports/ledger/ledger.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import type { AskedCharge, ChargeAnswer, HoldAnswer } from './post.ts'
import type { Work } from './step-writes.ts'

/** The first caller of a longer batch would wait too long for the work of the others. */
const BATCH_MAX = 256

export type Answer<T> = Pick<PromiseWithResolvers<T>, 'resolve' | 'reject'>

/** A part of a batch, which waits for it. */
export type Part =
  | { readonly kind: 'hold'; readonly hold: TextHoldTerms; readonly answer: Answer<HoldAnswer> }
  | ({
      readonly kind: 'charge'
      readonly answer: Answer<ChargeAnswer>
      /** How often it was refused alone. */
      readonly refusals?: number
    } & AskedCharge)
  | { readonly kind: 'end'; readonly hold: Hold; readonly answer: Answer<void> }

/** Work in a transaction of its own. */
export type WaitingStep = {
  readonly kind: 'step'
  /** True for the end of work: it waits for a lost database instead of being refused. */
  readonly canWait: boolean
  readonly work: Work<unknown>
  /** Called with its result once it is committed, also if its caller was refused in the meantime. */
  readonly committed: (result: unknown) => void
  readonly answer: Answer<unknown>
  /** How often other transactions were in its way. */
  readonly tries: number
  /** How often the database did not answer, or its node was too slow. */
  readonly losses: number
}

/** Parts that are written together. Each id occurs once. */
export type PartBatch = { readonly kind: 'batch'; readonly parts: readonly Part[]; readonly tries: number }

/** What a node writes next, in its order. */
export class WaitingWork {
  /** Those that were tried in vain. They are written before anything else. */
  #batches: PartBatch[] = []
  #queue: (Part | WaitingStep)[] = []

  get isEmpty(): boolean {
    return this.#batches.length === 0 && this.#queue.length === 0
  }

  /** How many callers wait, without those of batches that were tried. */
  get length(): number {
    return this.#queue.length
  }

  /** Whether batches that were tried in vain wait. */
  get hasBatches(): boolean {
    return this.#batches.length > 0
  }

  add(work: Part | WaitingStep): void {
    this.#queue.push(work)
  }

  /** The next step or batch, which no longer waits. The batch is empty if nothing waits. */
  next(): WaitingStep | PartBatch {
    const batch = this.#batches.shift()
    if (batch !== undefined) return batch
    const [first] = this.#queue
    if (first?.kind !== 'step') return { kind: 'batch', parts: this.#takeParts(), tries: 0 }
    this.#queue.shift()
    return first
  }

  /** Has parts written again, together. */
  putBack(parts: readonly Part[], tries: number): void {
    if (parts.length > 0) this.#batches.unshift({ kind: 'batch', parts, tries })
  }

  /** Has parts written again in two batches, so that one that cannot be written does not fail the others. */
  putBackApart(parts: readonly Part[], tries: number): void {
    const half = Math.ceil(parts.length / 2)
    this.putBack(parts.slice(half), tries)
    this.putBack(parts.slice(0, half), tries)
  }

  /** Has a step run again, before what waits. */
  putBackStep(step: WaitingStep): void {
    this.#queue.unshift(step)
  }

  /** Takes out the work that is meant. */
  takeOut(isMeant: (work: Part | WaitingStep) => boolean): readonly (Part | WaitingStep)[] {
    const taken: (Part | WaitingStep)[] = []
    const isKept = (work: Part | WaitingStep) => {
      if (isMeant(work)) taken.push(work)
      return taken.at(-1) !== work
    }
    this.#batches = this.#batches
      .map(batch => ({ ...batch, parts: batch.parts.filter(isKept) }))
      .filter(({ parts }) => parts.length > 0)
    this.#queue = this.#queue.filter(isKept)
    return taken
  }

  /** The next parts, until the first step. Of several parts with one id, the later ones wait for the next batch. */
  #takeParts(): readonly Part[] {
    const parts: Part[] = []
    const left: (Part | WaitingStep)[] = []
    const ids = new Set<bigint>()
    let canTake = true
    for (const work of this.#queue) {
      canTake &&= work.kind !== 'step' && parts.length < BATCH_MAX
      const id = canTake && work.kind !== 'step' ? idNumber(work.hold.id) : undefined
      if (id === undefined || work.kind === 'step' || ids.has(id)) left.push(work)
      else {
        ids.add(id)
        parts.push(work)
      }
    }
    this.#queue = left
    return parts
  }
}

/** Whether it belongs to a request that runs, so that it waits for a lost database. */
export function mayWait(work: Part | WaitingStep): boolean {
  return work.kind === 'step' ? work.canWait : work.kind !== 'hold'
}
