import type { Database } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import type { AttemptState } from '../../domain/ledger/attempt.ts'
import { nanoUsd } from '../../domain/money.ts'
import type {
  BookedMovement,
  BookedRequest,
  BookedAttempt,
  BookedCharge,
  BookedHold,
  BookedItems,
} from '../../gateway/ports/booked-items.ts'
import { nanoUsdOrNull, usageLineFrom, type ChargeRow } from '../books/charge-rows.ts'
import { usageFrom, type UsageColumns } from '../books/usage-columns.ts'

/** Reads all rows that have an id, each by an index. */
export function createBookedItems(database: Database): BookedItems {
  const read = statements(database)

  const ofRequest = (id: Id): BookedRequest | undefined => {
    const { key, tail } = id
    const charge = read.charge.get(key, tail)
    const hold = read.hold.get(key, tail)
    const attempts = read.attempts.all(key, tail)
    const job = read.job.get(key, tail)
    const account = job ?? charge ?? hold ?? attempts[0]
    if (account === undefined) return undefined
    return {
      kind: 'request',
      id,
      accountId: Number(account.account_id),
      job: job === null ? undefined : id,
      charge: charge === null ? undefined : chargeFrom(charge, read.refunds.all(charge.id)),
      hold: hold === null ? undefined : holdFrom(hold),
      attempts: attempts.map(attemptFrom),
    }
  }

  return {
    async find(id) {
      const { key, tail } = id
      const found = ofRequest(id)
      if (found !== undefined) return found
      const made = read.jobOfRequest.get(key, tail)
      if (made !== null) return ofRequest(idFrom(made))
      const refunded = read.refundedCharge.get(key, tail)
      if (refunded !== null) return ofRequest(idFrom(refunded))
      const money = read.credit.get(key, tail) ?? read.debit.get(key, tail)
      return money === null ? undefined : moneyFrom(money, id)
    },
  }
}

type IdColumns = [bigint, bigint]

function statements(database: Database) {
  return {
    charge: database.prepare<ChargeRow, IdColumns>(
      `SELECT *, (SELECT content FROM tariffs WHERE tariffs.id = tariff_id) AS content,
          (SELECT ifnull(sum(amount), 0) FROM corrections WHERE charge_id = charges.id) AS refunded
        FROM charges WHERE id_key = ? AND id_tail = ?`,
    ),
    refunds: database.prepare<BookedRefundRow, [bigint]>(
      `SELECT id_key, id_tail, corrections.amount, note, at_ms FROM corrections
        JOIN operations ON operations.id = operation_id WHERE charge_id = ? ORDER BY corrections.id`,
    ),
    hold: database.prepare<BookedHoldRow, IdColumns>(
      `SELECT account_id, kind, amount, state, placed_at_ms, resolved_at_ms FROM holds WHERE id_key = ? AND id_tail = ?`,
    ),
    attempts: database.prepare<BookedAttemptRow, IdColumns>(
      'SELECT * FROM attempts WHERE request_key = ? AND request_tail = ? ORDER BY number',
    ),
    job: database.prepare<{ account_id: bigint }, IdColumns>(
      'SELECT account_id FROM jobs WHERE id_key = ? AND id_tail = ?',
    ),
    jobOfRequest: database.prepare<BookedIdRow, IdColumns>(
      'SELECT id_key, id_tail FROM jobs WHERE request_key = ? AND request_tail = ? LIMIT 1',
    ),
    refundedCharge: database.prepare<BookedIdRow, IdColumns>(
      `SELECT charges.id_key, charges.id_tail FROM corrections JOIN charges ON charges.id = charge_id
        WHERE corrections.id_key = ? AND corrections.id_tail = ?`,
    ),
    credit: database.prepare<BookedMoneyRow, IdColumns>(
      `SELECT credits.account_id, operations.kind, credits.amount, note, at_ms FROM credits
        JOIN operations ON operations.id = operation_id WHERE id_key = ? AND id_tail = ?`,
    ),
    debit: database.prepare<BookedMoneyRow, IdColumns>(
      `SELECT corrections.account_id, operations.kind, corrections.amount, note, at_ms FROM corrections
        JOIN operations ON operations.id = operation_id WHERE id_key = ? AND id_tail = ?`,
    ),
  }
}

type BookedIdRow = { id_key: bigint; id_tail: bigint }

function idFrom({ id_key: key, id_tail: tail }: BookedIdRow): Id {
  return { key, tail }
}

type BookedRefundRow = BookedIdRow & { amount: bigint; note: string | null; at_ms: bigint }

function chargeFrom(row: ChargeRow, refunds: readonly BookedRefundRow[]): BookedCharge {
  return {
    ...usageLineFrom(row),
    shortfall: nanoUsd(row.shortfall),
    refunds: refunds.map(refund => ({
      id: idFrom(refund),
      amount: nanoUsd(refund.amount),
      note: refund.note,
      atMs: Number(refund.at_ms),
    })),
  }
}

type BookedHoldRow = {
  account_id: bigint
  kind: BookedHold['kind']
  amount: bigint
  state: BookedHold['state']
  placed_at_ms: bigint
  resolved_at_ms: bigint | null
}

function holdFrom(row: BookedHoldRow): BookedHold {
  return {
    kind: row.kind,
    amount: nanoUsd(row.amount),
    state: row.state,
    placedAtMs: Number(row.placed_at_ms),
    endedAtMs: row.resolved_at_ms === null ? null : Number(row.resolved_at_ms),
  }
}

type BookedAttemptRow = Omit<UsageColumns, 'input'> & {
  /** Null if the usage is not known. */
  input: bigint | null
  account_id: bigint
  number: bigint
  provider: string
  state: AttemptState
  cost: bigint | null
  provider_cost: bigint | null
  at_ms: bigint
}

function attemptFrom(row: BookedAttemptRow): BookedAttempt {
  const { input, number, provider, state } = row
  return {
    number: Number(number),
    provider,
    state,
    usage: input === null ? null : usageFrom({ ...row, input }),
    cost: nanoUsdOrNull(row.cost),
    providerCost: nanoUsdOrNull(row.provider_cost),
    atMs: Number(row.at_ms),
  }
}

type BookedMoneyRow = {
  account_id: bigint
  kind: BookedMovement['kind']
  amount: bigint
  note: string | null
  at_ms: bigint
}

function moneyFrom(row: BookedMoneyRow, id: Id): BookedMovement {
  return {
    kind: row.kind,
    id,
    accountId: Number(row.account_id),
    amount: nanoUsd(row.amount),
    note: row.note,
    atMs: Number(row.at_ms),
  }
}
