import { closedRefusal } from '../../../domain/accounts/account.ts'
import { dayOfGrant, type DayGrants, type GrantAllowance } from '../../../domain/admin/admin-token.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId } from '../../../domain/ids.ts'
import { crediting, type CreditSource } from '../../../domain/ledger/credit.ts'
import { nanoUsd, addUsd } from '../../../domain/money.ts'
import type { Credit, Ledger } from '../../../gateway/ports/ledger/ledger.ts'
import type { creditsTable } from './money-tables.ts'
import type { NewRow } from './hashed-table.ts'
import type { AccountState, Operation } from './operation-rows.ts'

export type CreditRequest = Parameters<Ledger['credit']>[0]

/** The columns of an earlier credit that a repeat is compared with. */
export type CreditRow = {
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  amount: bigint
  source: CreditSource
  available_after: bigint
}

const kindOf = { cash: 'top_up', promotions: 'grant' } as const satisfies Record<CreditSource, string>

/** The first credit with the id or the idempotency key of a request. Undefined if it is not a repeat. */
export function repeatedCredit(
  earlier: { readonly byId: CreditRow | null; readonly byKey: CreditRow | null },
  request: CreditRequest,
): Credit | undefined {
  const { byId, byKey } = earlier
  if (byId !== null) {
    if (isSameCredit(byId, request)) return creditFrom(byId)
    throw new RangeError(`The id ${formatId('op', request.id)} was given to another credit.`)
  }
  if (byKey === null) return undefined
  if (isSameCredit(byKey, request)) return creditFrom(byKey)
  throw new GatewayError(
    'idempotency_key_reuse',
    'This idempotency key was used before for a credit with another amount or source.',
  )
}

/**
 * A credit that is not a repeat. `operationId` is the row id that its operation gets, and `granted` what its token
 * or user granted before. Throws `grants_per_day_exceeded`, and `already_closed` for a closed account.
 */
export function newCredit(
  facts: {
    readonly books: AccountState
    readonly operationId: bigint
    readonly granted: DayGrants | undefined
  },
  { id, accountId, amount, source, note, idempotencyKey, allowance, audit }: CreditRequest,
): { readonly credit: Credit; readonly operation: Operation; readonly row: NewRow<typeof creditsTable> } {
  const { books, operationId, granted } = facts
  if (books.current.isClosed) throw closedRefusal('credits')
  const countsFor =
    allowance === undefined
      ? {}
      : grantColumns(allowance, dayOfGrant(allowance, granted, { amount, atMs: audit.atMs }))
  const movements = crediting(books.current.balances, { amount, source })
  const available = addUsd(books.free, amount)
  return {
    credit: { id, amount, available },
    operation: { kind: kindOf[source], subject: id, movements, atMs: audit.atMs },
    row: {
      id_key: id.key,
      id_tail: id.tail,
      account_id: accountId,
      operation_id: operationId,
      amount,
      source,
      note: note ?? null,
      idempotency_key: idempotencyKey ?? null,
      available_after: available,
      ...countsFor,
    },
  }
}

/** The giver of a grant, and the day that it counts for. */
function grantColumns({ of, id }: GrantAllowance, day: number) {
  return of === 'token' ? { token_id: id, token_day: day } : { by_user_id: id, by_user_day: day }
}

function isSameCredit(row: CreditRow, { accountId, amount, source }: CreditRequest): boolean {
  return Number(row.account_id) === accountId && row.amount === amount && row.source === source
}

function creditFrom({ id_key: key, id_tail: tail, amount, available_after }: CreditRow): Credit {
  return { id: { key, tail }, amount: nanoUsd(amount), available: nanoUsd(available_after) }
}
