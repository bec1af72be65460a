import type { Database } from 'bun:sqlite'
import { GatewayError } from '../../domain/errors.ts'
import { crediting, type CreditSource } from '../../domain/ledger/credit.ts'
import { nanoUsd } from '../../domain/money.ts'
import type { Credit, Ledger } from '../../gateway/ports/ledger.ts'
import { freeOf, standingOf, type BooksOfAccounts } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Journal } from './journal.ts'

type CreditRequest = Parameters<Ledger['credit']>[0]

const kindOf = { cash: 'top_up', promotions: 'grant' } as const satisfies Record<CreditSource, string>

/** `Ledger.credit` on its table. */
export function createCredits(parts: {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly auditLog: SqliteAuditLog
}): Pick<Ledger, 'credit'> {
  const { database, groupCommit, booksOfAccounts, journal, auditLog } = parts
  const selectById = database.prepare<CreditRow, [bigint]>('SELECT * FROM credits WHERE id = ?')
  const selectByKey = database.prepare<CreditRow, [number, string]>(
    'SELECT * FROM credits WHERE account_id = ? AND idempotency_key = ?',
  )
  const insert = database.prepare(
    `INSERT INTO credits (id, tail, account_id, operation_id, amount, source, note, idempotency_key, available_after)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  function first(request: CreditRequest): Credit | undefined {
    const byId = selectById.get(request.id.key)
    if (byId !== null) {
      if (byId.tail === request.id.tail && isSame(byId, request)) return creditFrom(byId)
      throw new RangeError(`The id ${request.id.key} was given to another credit.`)
    }
    if (request.idempotencyKey === undefined) return undefined
    const byKey = selectByKey.get(request.accountId, request.idempotencyKey)
    if (byKey === null) return undefined
    if (isSame(byKey, request)) return creditFrom(byKey)
    throw new GatewayError(
      'idempotency_key_reuse',
      'This idempotency key was used before, for a credit of another amount or source.',
    )
  }

  function credit(request: CreditRequest): Credit {
    const repeated = first(request)
    if (repeated !== undefined) return repeated
    const { id, accountId, amount, source, note, idempotencyKey, audit } = request
    const books = booksOfAccounts.of(accountId)
    const movements = crediting(standingOf(books).balances, { amount, source })
    const operation = { kind: kindOf[source], subject: id, movements, atMs: audit.atMs }
    const operationId = journal.write(books, operation)
    const available = freeOf(books)
    insert.run(
      id.key,
      id.tail,
      accountId,
      operationId,
      amount,
      source,
      note ?? null,
      idempotencyKey ?? null,
      available,
    )
    auditLog.append(audit)
    return { id, amount, available }
  }

  return { credit: request => groupCommit.run(() => credit(request)) }
}

type CreditRow = {
  id: bigint
  tail: bigint
  account_id: bigint
  amount: bigint
  source: CreditSource
  available_after: bigint
}

function isSame(row: CreditRow, { accountId, amount, source }: CreditRequest): boolean {
  return Number(row.account_id) === accountId && row.amount === amount && row.source === source
}

function creditFrom({ id, tail, amount, available_after }: CreditRow): Credit {
  return { id: { key: id, tail }, amount: nanoUsd(amount), available: nanoUsd(available_after) }
}
