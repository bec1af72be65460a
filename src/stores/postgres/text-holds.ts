import { closedAccountError } from '../../domain/accounts/account.ts'
import { formatId, idNumber } from '../../domain/ids.ts'
import { requireFittingCharge } from '../../domain/ledger/hold.ts'
import type { Charge, TextCharge } from '../../gateway/ports/charge.ts'
import type { Captured, Hold, HoldOutcome } from '../../gateway/ports/ledger.ts'
import { repeatedCapture } from '../books/charge-rows.ts'
import { anotherHold } from '../books/holds.ts'
import type { Batches } from './batches.ts'
import type { HoldProblem } from './post.ts'
import type { Tariffs } from './tariffs.ts'

/**
 * The holds of running text requests. They are rows without entries in the journal, because other nodes spend the same
 * money; the books of an account have their sum.
 */
export class TextHolds {
  readonly #batches: Batches
  readonly #tariffs: Tariffs
  /** The captures that have not ended, by the numbers of their holds. */
  readonly #capturing = new Map<bigint, Promise<unknown>>()

  constructor(parts: { readonly batches: Batches; readonly tariffs: Tariffs }) {
    this.#batches = parts.batches
    this.#tariffs = parts.tariffs
  }

  async place(hold: Hold): Promise<HoldOutcome> {
    if (hold.amount < 0n) throw new RangeError(`A hold of ${hold.amount} is negative.`)
    const answer = await this.#batches.place(hold)
    if (answer.outcome === 'impossible') throw problemOfHold(hold, answer.problem)
    return answer
  }

  async capture(hold: Hold, charge: Charge): Promise<Captured> {
    requireFittingCharge(hold.kind, charge.kind)
    if (charge.kind !== 'text') throw new RangeError(`${formatId('hold', hold.id)} is not a text hold.`)
    if (charge.cost < 0n) throw new RangeError(`A cost of ${charge.cost} is negative.`)
    const capture = this.#capture(hold, charge)
    const number = idNumber(hold.id)
    this.#capturing.set(number, capture)
    try {
      return await capture
    } finally {
      if (this.#capturing.get(number) === capture) this.#capturing.delete(number)
    }
  }

  /** If a capture was asked for first, this ends the hold only if the capture fails. */
  async release(hold: Hold): Promise<void> {
    await this.#capturing.get(idNumber(hold.id))?.catch(() => undefined)
    return this.#batches.end(hold)
  }

  async #capture(hold: Hold, charge: TextCharge): Promise<Captured> {
    const tariffId = charge.tariff === null ? null : await this.#tariffs.idOf(charge.tariff)
    const answer = await this.#batches.charge({ hold, charge, tariffId })
    return 'captured' in answer ? answer.captured : repeatedCapture(hold, charge.cost, answer.first)
  }
}

function problemOfHold({ id, accountId }: Hold, problem: HoldProblem): Error {
  switch (problem) {
    case 'another':
      return anotherHold(id)
    case 'expired':
      return new RangeError(`${formatId('hold', id)} has expired.`)
    case 'closed':
      return closedAccountError()
    case 'no account':
      return new RangeError(`There is no account ${accountId}, or its row of balances is missing.`)
  }
}
