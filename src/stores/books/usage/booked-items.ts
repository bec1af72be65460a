import type { Id } from '../../../domain/ids.ts'
import type { AttemptState } from '../../../domain/ledger/attempt.ts'
import { nanoUsd } from '../../../domain/money.ts'
import type {
  BookedMovement,
  BookedRequest,
  BookedAttempt,
  BookedCharge,
  BookedHold,
  BookedItem,
  BookedItems,
} from '../../../gateway/ports/ledger/booked-items.ts'
import { nanoUsdOrNull, usageLineFrom, type ChargeRow } from '../rows/charge-rows.ts'
import { all, first, type StepRunner, type Step } from '../steps.ts'
import { usageFrom, type UsageColumns } from '../rows/usage-columns.ts'

/** Reads all rows that have an id, each by an index. */
export function createBookedItems(stepRunner: StepRunner): BookedItems {
  return { find: id => stepRunner.read(() => findItem(id)) }
}

export function* findItem(id: Id): Step<BookedItem | undefined> {
  const { key, tail } = id
  const found = yield* requestOf(id)
  if (found !== undefined) return found
  const made = yield* first<BookedIdRow>(JOB_OF_REQUEST, key, tail)
  if (made !== undefined) return yield* requestOf(idFrom(made))
  const refunded = yield* first<BookedIdRow>(REFUNDED_CHARGE, key, tail)
  if (refunded !== undefined) return yield* requestOf(idFrom(refunded))
  const money =
    (yield* first<BookedMoneyRow>(CREDIT, key, tail)) ?? (yield* first<BookedMoneyRow>(DEBIT, key, tail))
  return money && moneyFrom(money, id)
}

function* requestOf(id: Id): Step<BookedRequest | undefined> {
  const { key, tail } = id
  const charge = yield* first<ChargeRow>(CHARGE, key, tail)
  const hold = yield* first<BookedHoldRow>(HOLD, key, tail)
  const attempts = yield* all<BookedAttemptRow>(ATTEMPTS, key, tail)
  const job = yield* first<{ account_id: bigint }>(JOB, key, tail)
  const account = job ?? charge ?? hold ?? attempts[0]
  if (account === undefined) return undefined
  const refunds = charge === undefined ? [] : yield* all<BookedRefundRow>(REFUNDS, charge.id)
  return {
    kind: 'request',
    id,
    accountId: Number(account.account_id),
    job: job && id,
    charge: charge && chargeFrom(charge, refunds),
    hold: hold && holdFrom(hold),
    attempts: attempts.map(attemptFrom),
  }
}

const CHARGE = `SELECT charges.*, (SELECT content FROM tariffs WHERE tariffs.id = tariff_id) AS content,
    CAST((SELECT coalesce(sum(amount), 0) FROM corrections WHERE charge_id = charges.id) AS bigint) AS refunded
  FROM charges WHERE id_key = ? AND id_tail = ?`
const REFUNDS = `SELECT id_key, id_tail, corrections.amount, note, at_ms FROM corrections
  JOIN operations ON operations.id = operation_id WHERE charge_id = ? ORDER BY corrections.id`
const HOLD =
  'SELECT account_id, kind, amount, state, placed_at_ms, resolved_at_ms FROM holds WHERE id_key = ? AND id_tail = ?'
const ATTEMPTS = 'SELECT * FROM attempts WHERE request_key = ? AND request_tail = ? ORDER BY number'
const JOB = 'SELECT account_id FROM jobs WHERE id_key = ? AND id_tail = ?'
const JOB_OF_REQUEST = 'SELECT id_key, id_tail FROM jobs WHERE request_key = ? AND request_tail = ? LIMIT 1'
const REFUNDED_CHARGE = `SELECT charges.id_key, charges.id_tail FROM corrections JOIN charges ON charges.id = charge_id
  WHERE corrections.id_key = ? AND corrections.id_tail = ?`
const CREDIT = `SELECT credits.account_id, operations.kind, credits.amount, note, at_ms FROM credits
  JOIN operations ON operations.id = operation_id WHERE id_key = ? AND id_tail = ?`
const DEBIT = `SELECT corrections.account_id, operations.kind, corrections.amount, note, at_ms FROM corrections
  JOIN operations ON operations.id = operation_id WHERE id_key = ? AND id_tail = ?`

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
