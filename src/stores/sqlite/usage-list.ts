import type { Database, Statement } from 'bun:sqlite'
import { nanoUsd } from '../../domain/money.ts'
import type { Provenance } from '../../domain/pricing/usage.ts'
import type { Charge, Page, UsageLine } from '../../gateway/ports/ledger.ts'
import type { BooksOfAccounts } from './account-books.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from './row-ids.ts'
import { imageTariffFrom, tariffFrom, videoTariffFrom } from './tariffs.ts'
import { usageFrom, type UsageColumns } from './usage-columns.ts'

// A subquery, because a LEFT JOIN made each read ten times as slow.
const SELECT = 'SELECT *, (SELECT content FROM tariffs WHERE tariffs.id = tariff_id) AS content FROM charges'

/** Reads charges, newest first. */
export class UsageList {
  readonly #books: BooksOfAccounts
  readonly #selectOne: Statement<ChargeRow, [bigint]>
  readonly #selectAll: Statement<ChargeRow, [bigint, number]>
  readonly #selectByKey: Statement<{ id: bigint | null }, [bigint]>

  constructor(parts: { readonly database: Database; readonly booksOfAccounts: BooksOfAccounts }) {
    const { database } = parts
    this.#books = parts.booksOfAccounts
    this.#selectOne = database.prepare(`${SELECT} WHERE id = ?`)
    this.#selectAll = database.prepare(`${SELECT} WHERE id < ? ORDER BY id DESC LIMIT ?`)
    this.#selectByKey = database.prepare('SELECT min(id) AS id FROM charges WHERE id_key = ?')
  }

  ofAll({ limit, before }: Page): readonly UsageLine[] {
    const rowId = before === undefined ? ROW_ID_MAX : this.#rowIdOf(before)
    return rowId === undefined ? [] : this.#selectAll.all(rowId, limit).map(usageLineFrom)
  }

  /** Walks the chain of the account back. A page after a charge of another account is empty. */
  ofAccount(accountId: number, { limit, before }: Page): readonly UsageLine[] {
    let next = this.#books.of(accountId).committed.latestChargeId
    if (before !== undefined) {
      const rowId = this.#rowIdOf(before)
      const row = rowId === undefined ? null : this.#selectOne.get(rowId)
      next = row !== null && Number(row.account_id) === accountId ? row.previous_id : null
    }
    const lines: UsageLine[] = []
    while (next !== null && lines.length < limit) {
      const row = this.#selectOne.get(next)
      if (row === null) throw new Error(`Charge ${next} of account ${accountId} is missing.`)
      lines.push(usageLineFrom(row))
      next = row.previous_id
    }
    return lines
  }

  /** Earlier versions named a charge by the first half of its id. */
  #rowIdOf(cursor: string): bigint | undefined {
    const { value, isOld } = readCursor(cursor)
    return isOld ? (this.#selectByKey.get(value)?.id ?? undefined) : value
  }
}

export type ChargeRow = UsageColumns & {
  id: bigint
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  previous_id: bigint | null
  operation_id: bigint | null
  api_key_id: bigint
  route: string
  model: string
  provider: string
  /** Null for charges that are not for text. */
  provenance: Provenance | null
  images: bigint | null
  duration_ms: bigint | null
  is_clamped: bigint
  content: string | null
  cost: bigint
  shortfall: bigint
  at_ms: bigint
}

function usageLineFrom(row: ChargeRow): UsageLine {
  return {
    id: { key: row.id_key, tail: row.id_tail },
    cursor: cursorOf(row.id),
    accountId: Number(row.account_id),
    ...chargeFrom(row),
  }
}

function chargeFrom(row: ChargeRow): Charge {
  const { route, model, provider, content, provenance, images, duration_ms: durationMs } = row
  const apiKeyId = Number(row.api_key_id)
  const common = { route, model, provider, apiKeyId, cost: nanoUsd(row.cost), atMs: Number(row.at_ms) }
  if (images !== null)
    return {
      kind: 'images',
      ...common,
      images: Number(images),
      tariff: imageTariffFrom(content ?? '{}'),
    }
  if (durationMs !== null)
    return {
      kind: 'video',
      ...common,
      durationMs: Number(durationMs),
      tariff: videoTariffFrom(content ?? '{}'),
    }
  return {
    kind: 'text',
    ...common,
    usage: usageFrom(row),
    provenance: provenance ?? 'reported',
    isClamped: row.is_clamped === 1n,
    tariff: content === null ? null : tariffFrom(content),
  }
}
