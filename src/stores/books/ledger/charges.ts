import type { Id } from '../../../domain/ids.ts'
import { ZERO } from '../../../domain/money.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import { chargeRow, type ChargeBooking, type ChargedRow } from '../rows/charge-rows.ts'
import { chargesTable } from '../rows/money-tables.ts'
import type { StepBooks } from '../rows/operation-rows.ts'
import { first, insert, type Step } from '../steps.ts'
import type { Tariff } from '../rows/tariff-rows.ts'

/** The effects of a charge besides its row and its operation. Stores have them in different ways. */
export type ChargeEffects = {
  /** The row of a tariff, which is written if it is new. */
  tariffId(tariff: Tariff): Step<bigint>
  /** Counts the cost of a charge in the budgets of its scopes. Returns undefined if that needs no query. */
  spend(books: StepBooks, charge: Charge): Step<void> | undefined
  /** Adds a charge to the sums of its day. Returns undefined if that needs no query. */
  addUsage(
    accountId: number,
    chargeId: bigint,
    charge: Charge,
    isCompensated: boolean,
  ): Step<void> | undefined
}

/** Writes charges. */
export class Charges {
  readonly #effects: ChargeEffects

  constructor({ chargeEffects }: { readonly chargeEffects: ChargeEffects }) {
    this.#effects = chargeEffects
  }

  /** Writes a charge as the latest of its account. Returns false, and writes nothing, if the id was charged before. */
  *insert(books: StepBooks, charge: Charge, booking: ChargeBooking): Step<boolean> {
    const { tariff } = charge
    const tariffId = tariff === null ? null : yield* this.#effects.tariffId(tariff)
    const id = yield* insert(chargesTable, chargeRow(books, charge, booking, tariffId))
    if (id === null) return false
    books.stage().latestChargeId = id
    const { isCompensated = false } = booking
    const spend = this.#effects.spend(books, isCompensated ? { ...charge, cost: ZERO } : charge)
    if (spend !== undefined) yield* spend
    const addUsage = this.#effects.addUsage(books.accountId, id, charge, isCompensated)
    if (addUsage !== undefined) yield* addUsage
    return true
  }

  /** The charge of an id; null if there is none. */
  *first({ key, tail }: Id): Step<ChargedRow | null> {
    const row = yield* first<ChargedRow>(
      'SELECT account_id, cost, shortfall FROM charges WHERE id_key = ? AND id_tail = ?',
      key,
      tail,
    )
    return row ?? null
  }
}
