import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../domain/ids.ts'
import { compensating, type AttemptState } from '../../domain/ledger/attempt.ts'
import { nanoUsd, ZERO } from '../../domain/money.ts'
import type { AttemptId } from '../../gateway/ports/attempts.ts'
import type { TextCharge, Compensated } from '../../gateway/ports/ledger.ts'
import type { BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { Journal } from './journal.ts'
import { tariffFrom } from './tariffs.ts'
import { nanoUsdOrNull } from './usage-list.ts'
import { usageFrom, type UsageColumns } from '../books/usage-columns.ts'

type Parts = {
  readonly database: Database
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
}

/** The step of `Ledger.compensate`. */
export class Compensations {
  readonly #parts: Parts
  readonly #select: Statement<AttemptRow, [bigint, bigint, number]>
  readonly #settle: Statement

  constructor(parts: Parts) {
    const { database } = parts
    this.#parts = parts
    this.#select = database.prepare(
      `SELECT attempts.*, tariffs.content FROM attempts LEFT JOIN tariffs ON tariffs.id = tariff_id
        WHERE request_key = ? AND request_tail = ? AND number = ?`,
    )
    this.#settle = database.prepare(
      `UPDATE attempts SET state = 'compensated', compensated_by = ?
        WHERE request_key = ? AND request_tail = ? AND number = ? AND state = 'billed'`,
    )
  }

  /** Inside a step: charges the attempt and gives the same amount back. */
  compensate(attempt: AttemptId, atMs: number): Compensated {
    const { requestId: id, number } = attempt
    const { booksOfAccounts, journal, charges } = this.#parts
    const row = this.#select.get(id.key, id.tail, number)
    if (row === null) throw new RangeError(`There is no ${nameOf(attempt)}.`)
    if (row.cost === null) throw new RangeError(`The ${nameOf(attempt)} is ${row.state}.`)
    const cost = nanoUsd(row.cost)
    if (row.state === 'compensated') return { cost, isFirst: false }

    const books = booksOfAccounts.of(Number(row.account_id))
    const operationId = cost === 0n ? null : journal.nextOperationId
    if (!charges.insert(books, { ...chargeOfAttempt(row), cost, atMs }, { id, shortfall: ZERO, operationId }))
      throw new RangeError(`The request of the ${nameOf(attempt)} was charged before.`)
    const { charge, compensation } = compensating(cost)
    journal.write(books, { kind: 'charge', subject: id, movements: charge, atMs })
    const operation = { kind: 'compensation', subject: id, movements: compensation, atMs } as const
    const compensatedBy = journal.write(books, operation)
    const { changes } = this.#settle.run(compensatedBy, id.key, id.tail, number)
    if (changes !== 1) throw new Error(`The ${nameOf(attempt)} is not billed.`)
    return { cost, isFirst: true }
  }
}

function nameOf({ requestId, number }: AttemptId): string {
  return `attempt ${number} of ${formatId('req', requestId)}`
}

type AttemptRow = UsageColumns & {
  account_id: bigint
  api_key_id: bigint
  route: string
  model: string
  provider: string
  state: AttemptState
  content: string | null
  cost: bigint | null
  provider_cost: bigint | null
  is_clamped: bigint | null
}

function chargeOfAttempt(row: AttemptRow): Omit<TextCharge, 'cost' | 'atMs'> {
  return {
    kind: 'text',
    route: row.route,
    apiKeyId: Number(row.api_key_id),
    model: row.model,
    provider: row.provider,
    providerCost: nanoUsdOrNull(row.provider_cost),
    usage: usageFrom(row),
    provenance: 'reported',
    isClamped: row.is_clamped === 1n,
    tariff: row.content === null ? null : tariffFrom(row.content),
  }
}
