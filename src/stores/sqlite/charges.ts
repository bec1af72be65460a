import type { Database, Statement } from 'bun:sqlite'
import { formatId, type Id } from '../../domain/ids.ts'
import { nanoUsd, type NanoUsd } from '../../domain/money.ts'
import type { Captured, Charge } from '../../gateway/ports/ledger.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { Tables } from './tables.ts'
import type { Tariffs } from './tariffs.ts'
import type { Transactions } from './transactions.ts'
import { usageColumns, usageOfCharge } from '../books/usage-columns.ts'
import { UsageDays } from './usage-days.ts'

/** The steps that write charges. */
export class Charges {
  readonly #books: BooksOfAccounts
  readonly #days: UsageDays
  readonly #tariffs: Tariffs
  readonly #table: Tables['charges']
  readonly #selectOutcome: Statement<OutcomeRow, [bigint, bigint]>

  constructor(parts: {
    readonly database: Database
    readonly transactions: Transactions
    readonly tables: Tables
    readonly booksOfAccounts: BooksOfAccounts
    readonly tariffs: Tariffs
  }) {
    this.#books = parts.booksOfAccounts
    this.#days = new UsageDays(parts)
    this.#tariffs = parts.tariffs
    this.#table = parts.tables.charges
    this.#selectOutcome = parts.database.prepare(
      'SELECT account_id, cost, shortfall FROM charges WHERE id_key = ? AND id_tail = ?',
    )
  }

  /**
   * Inside a step: writes a charge as the latest of its account. Returns false, and writes nothing, if the id was
   * charged before. `operationId` is the operation of the same step that moves the money; null if none does.
   */
  insert(
    books: AccountBooks,
    charge: Charge,
    of: { readonly id: Id; readonly shortfall: NanoUsd; readonly operationId: bigint | null },
  ): boolean {
    const { tariff } = charge
    const usage = usageOfCharge(charge)
    const id = this.#table.insert({
      id_key: of.id.key,
      id_tail: of.id.tail,
      account_id: books.accountId,
      previous_id: books.current.latestChargeId,
      operation_id: of.operationId,
      api_key_id: charge.apiKeyId,
      route: charge.route,
      model: charge.model,
      provider: charge.provider,
      ...usageColumns(usage),
      provenance: charge.kind === 'text' ? charge.provenance : null,
      is_clamped: charge.kind === 'text' && charge.isClamped ? 1 : 0,
      assumed_cached: charge.kind === 'text' ? (charge.assumedCached ?? null) : null,
      images: charge.kind === 'images' ? charge.images : null,
      duration_ms: charge.kind === 'video' ? charge.durationMs : null,
      tariff_id: tariff === null ? null : this.#tariffs.idOf(tariff),
      cost: charge.cost,
      shortfall: of.shortfall,
      at_ms: charge.atMs,
      provider_cost: charge.providerCost,
    })
    if (id === null) return false
    this.#books.stage(books).latestChargeId = id
    this.#days.add(books.accountId, id, charge)
    return true
  }

  /**
   * The outcome of the first capture of this id, for a repeat of it. Throws a RangeError if the first capture was of
   * another account or cost, and if there was none because the hold was released or never placed.
   */
  outcome({ id, accountId, cost }: Repeat): Captured {
    const row = this.#selectOutcome.get(id.key, id.tail)
    const name = formatId('hold', id)
    if (row === null) throw new RangeError(`${name} is not open: it was released or never placed.`)
    if (Number(row.account_id) !== accountId || row.cost !== cost)
      throw new RangeError(`${name} was captured before, with a cost of ${row.cost} nano-USD.`)
    return { cost, shortfall: nanoUsd(row.shortfall) }
  }
}

type Repeat = { readonly id: Id; readonly accountId: number; readonly cost: NanoUsd }

type OutcomeRow = { account_id: bigint; cost: bigint; shortfall: bigint }
