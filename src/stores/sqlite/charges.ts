import type { Database } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import { nanoUsd, type NanoUsd } from '../../domain/money.ts'
import type { Provenance, Usage } from '../../domain/pricing/usage.ts'
import type { Captured, Charge, Page, UsageLine } from '../../gateway/ports/ledger.ts'
import { standingOf, type AccountBooks, type BooksOfAccounts } from './account-books.ts'
import { tariffFrom, type Tariffs } from './tariffs.ts'

export type Charges = {
  /**
   * Inside a step: records a charge as the account's latest. False, and nothing written, where the id was charged before.
   * `operationId` is the operation that will move the money in the same step; null where none will.
   */
  insert(
    books: AccountBooks,
    charge: Charge,
    of: { readonly id: Id; readonly shortfall: NanoUsd; readonly operationId: bigint | null },
  ): boolean
  /**
   * What the first capture of this id came to, for a repeat of it. Throws a RangeError where the first was another charge,
   * and where there is none: the hold was released, or never placed.
   */
  outcome(repeat: { readonly id: Id; readonly accountId: number; readonly cost: NanoUsd }): Captured
  /** Newest first: of one account, in the order of charging; or of all, in the order of their ids. */
  page(books: AccountBooks | undefined, page: Page): readonly UsageLine[]
}

export function createCharges(
  database: Database,
  booksOfAccounts: BooksOfAccounts,
  tariffs: Tariffs,
): Charges {
  const insertRow = database.prepare(
    `INSERT INTO charges (id, tail, account_id, previous_id, operation_id, api_key_id, route, model, provider,
        input, cached_input, cache_write, audio_input, output, reasoning, audio_output,
        provenance, is_clamped, tariff_id, cost, shortfall, at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const selectOutcome = database.prepare<OutcomeRow, [bigint]>(
    'SELECT tail, account_id, cost, shortfall FROM charges WHERE id = ?',
  )
  // A subquery, because a LEFT JOIN made each read ten times as slow.
  const line = 'SELECT *, (SELECT content FROM tariffs WHERE tariffs.id = tariff_id) AS content FROM charges'
  const selectLine = database.prepare<ChargeRow, [bigint]>(`${line} WHERE id = ?`)
  const selectAll = database.prepare<ChargeRow, [bigint | null, number]>(
    `${line} WHERE id < ifnull(?, 9223372036854775807) ORDER BY id DESC LIMIT ?`,
  )

  /** Walks the account's chain back: an index by account would cost every charge a page of its own to write. */
  function pageOfAccount(
    { accountId, committed }: AccountBooks,
    { limit, before }: Page,
  ): readonly UsageLine[] {
    let next = committed.latestChargeId
    if (before !== undefined) {
      const row = selectLine.get(before)
      next = row !== null && Number(row.account_id) === accountId ? row.previous_id : null
    }
    const lines: UsageLine[] = []
    while (next !== null && lines.length < limit) {
      const row = selectLine.get(next)
      if (row === null) throw new Error(`Charge ${next} of account ${accountId} is missing.`)
      lines.push(usageLineFrom(row))
      next = row.previous_id
    }
    return lines
  }

  return {
    insert(books, charge, { id, operationId, shortfall }) {
      const { usage } = charge
      const { changes } = insertRow.run(
        id.key,
        id.tail,
        books.accountId,
        standingOf(books).latestChargeId,
        operationId,
        charge.apiKeyId,
        charge.route,
        charge.model,
        charge.provider,
        usage.input,
        usage.cachedInput,
        usage.cacheWrite,
        usage.audioInput,
        usage.output,
        usage.reasoning,
        usage.audioOutput,
        charge.provenance,
        charge.isClamped ? 1 : 0,
        charge.tariff === null ? null : tariffs.idOf(charge.tariff),
        charge.cost,
        shortfall,
        charge.atMs,
      )
      if (changes === 0) return false
      booksOfAccounts.stage(books).latestChargeId = id.key
      return true
    },
    outcome({ id, accountId, cost }) {
      const row = selectOutcome.get(id.key)
      if (row === null) throw new RangeError(`Hold ${id.key} is not open: it was released, or never placed.`)
      if (row.tail !== id.tail || Number(row.account_id) !== accountId || row.cost !== cost)
        throw new RangeError(`The id ${id.key} was charged before, with ${row.cost}.`)
      return { cost, shortfall: nanoUsd(row.shortfall) }
    },
    page: (books, page) =>
      books === undefined
        ? selectAll.all(page.before ?? null, page.limit).map(usageLineFrom)
        : pageOfAccount(books, page),
  }
}

type OutcomeRow = { tail: bigint; account_id: bigint; cost: bigint; shortfall: bigint }

/** The columns of a usage, wherever one stands. */
export type UsageColumns = {
  input: bigint
  cached_input: bigint
  cache_write: bigint
  audio_input: bigint
  output: bigint
  reasoning: bigint
  audio_output: bigint
}

export type ChargeRow = OutcomeRow &
  UsageColumns & {
    id: bigint
    previous_id: bigint | null
    operation_id: bigint | null
    api_key_id: bigint
    route: string
    model: string
    provider: string
    provenance: Provenance
    is_clamped: bigint
    content: string | null
    at_ms: bigint
  }

function usageLineFrom(row: ChargeRow): UsageLine {
  return {
    id: { key: row.id, tail: row.tail },
    accountId: Number(row.account_id),
    apiKeyId: Number(row.api_key_id),
    route: row.route,
    model: row.model,
    provider: row.provider,
    usage: usageFrom(row),
    provenance: row.provenance,
    isClamped: row.is_clamped === 1n,
    tariff: row.content === null ? null : tariffFrom(row.content),
    cost: nanoUsd(row.cost),
    atMs: Number(row.at_ms),
  }
}

export function usageFrom(row: UsageColumns): Usage {
  return {
    input: Number(row.input),
    cachedInput: Number(row.cached_input),
    cacheWrite: Number(row.cache_write),
    audioInput: Number(row.audio_input),
    output: Number(row.output),
    reasoning: Number(row.reasoning),
    audioOutput: Number(row.audio_output),
  }
}
