import type { Database, Statement } from 'bun:sqlite'
import { GatewayError } from '../../domain/errors.ts'
import { formatId } from '../../domain/ids.ts'
import { crediting, type CreditSource } from '../../domain/ledger/credit.ts'
import { nanoUsd } from '../../domain/money.ts'
import type { Credit, Ledger } from '../../gateway/ports/ledger.ts'
import type { BooksOfAccounts } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { Journal } from './journal.ts'
import type { Tables } from './tables.ts'

type CreditRequest = Parameters<Ledger['credit']>[0]

type Parts = {
  readonly database: Database
  readonly tables: Tables
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly auditLog: SqliteAuditLog
}

const kindOf = { cash: 'top_up', promotions: 'grant' } as const satisfies Record<CreditSource, string>

/** The step of `Ledger.credit`. */
export class Credits {
  readonly #parts: Parts
  readonly #selectById: Statement<CreditRow, [bigint, bigint]>
  readonly #selectByKey: Statement<CreditRow, [number, string]>
  readonly #table: Tables['credits']

  constructor(parts: Parts) {
    const { database } = parts
    this.#parts = parts
    this.#selectById = database.prepare('SELECT * FROM credits WHERE id_key = ? AND id_tail = ?')
    this.#selectByKey = database.prepare('SELECT * FROM credits WHERE account_id = ? AND idempotency_key = ?')
    this.#table = parts.tables.credits
  }

  /** Inside a step: credits the account, or returns the first credit of a repeated id or idempotency key. */
  credit(request: CreditRequest): Credit {
    const { booksOfAccounts, journal, auditLog } = this.#parts
    const first = this.#first(request)
    if (first !== undefined) return first
    const { id, accountId, amount, source, note, idempotencyKey, audit } = request
    const books = booksOfAccounts.of(accountId)
    const movements = crediting(books.current.balances, { amount, source })
    const operation = { kind: kindOf[source], subject: id, movements, atMs: audit.atMs }
    const operationId = journal.move(books, operation)
    const available = books.free
    this.#table.insert({
      id_key: id.key,
      id_tail: id.tail,
      account_id: accountId,
      operation_id: operationId,
      amount,
      source,
      note: note ?? null,
      idempotency_key: idempotencyKey ?? null,
      available_after: available,
    })
    auditLog.append(audit)
    return { id, amount, available }
  }

  #first(request: CreditRequest): Credit | undefined {
    const { id, accountId, idempotencyKey } = request
    const byId = this.#selectById.get(id.key, id.tail)
    if (byId !== null) {
      if (isSameCredit(byId, request)) return creditFrom(byId)
      throw new RangeError(`The id ${formatId('op', id)} was given to another credit.`)
    }
    if (idempotencyKey === undefined) return undefined
    const byKey = this.#selectByKey.get(accountId, idempotencyKey)
    if (byKey === null) return undefined
    if (isSameCredit(byKey, request)) return creditFrom(byKey)
    throw new GatewayError(
      'idempotency_key_reuse',
      'This idempotency key was used before for a credit with another amount or source.',
    )
  }
}

type CreditRow = {
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  amount: bigint
  source: CreditSource
  available_after: bigint
}

function isSameCredit(row: CreditRow, { accountId, amount, source }: CreditRequest): boolean {
  return Number(row.account_id) === accountId && row.amount === amount && row.source === source
}

function creditFrom({ id_key: key, id_tail: tail, amount, available_after }: CreditRow): Credit {
  return { id: { key, tail }, amount: nanoUsd(amount), available: nanoUsd(available_after) }
}
