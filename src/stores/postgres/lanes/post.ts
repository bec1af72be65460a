import type { SQL } from 'bun'
import { post as entriesOf } from '../../../domain/ledger/post.ts'
import { addUsd, nanoUsd } from '../../../domain/money.ts'
import type { TextCharge } from '../../../gateway/ports/ledger/charge.ts'
import type { Captured, HoldOutcome } from '../../../gateway/ports/ledger/ledger.ts'
import type { SqlValue } from '../../books/rows/canonical.ts'
import { chargeRow, type ChargedRow } from '../../books/rows/charge-rows.ts'
import type { CommitRows } from '../../books/rows/commit-rows.ts'
import { chargesTable, operationsTable } from '../../books/rows/money-tables.ts'
import { NO_BALANCES } from '../../../domain/ledger/books.ts'
import { captureTextHold, type TextHoldTerms } from '../../books/ledger/holds.ts'
import { addOperation, operationRow, type StagedBooks } from '../../books/rows/operation-rows.ts'
import { formOfRow } from './hashed-rows.ts'
import type { LanePlace } from './lane.ts'
import type { LiveScope } from '../../books/limits/account-limits.ts'
import { LimitStates, ratesFrom, scopeFrom } from '../limits/limit-states.ts'
import { list, record } from '../database/literals.ts'

export type AskedCharge = {
  readonly hold: TextHoldTerms
  readonly charge: TextCharge
  /** The row of its tariff. */
  readonly tariffId: bigint | null
}

/** What one batch asks for. Each id occurs once. */
export type Asked = {
  readonly charges: readonly AskedCharge[]
  readonly ends: readonly TextHoldTerms[]
  readonly holds: readonly TextHoldTerms[]
}

/** The outcome of a charge: that of its first capture, which is null if its hold has ended without one. */
export type ChargeAnswer = { readonly captured: Captured } | { readonly first: ChargedRow | null }

/**
 * Why a hold was not placed: its id is of another hold, it has expired, its account is closed or missing, or the
 * database refused it for limits that do not refuse it by the rules of the domain.
 */
export type HoldProblem = 'another' | 'expired' | 'closed' | 'no account' | 'limits'
export type HoldAnswer = HoldOutcome | { readonly outcome: 'impossible'; readonly problem: HoldProblem }

export type Answers = {
  readonly charges: readonly ChargeAnswer[]
  readonly holds: readonly HoldAnswer[]
  /** True if the database recorded alerts whose events are not written yet. */
  readonly hasAlerts: boolean
}

/** The parts of the result of `post_v2`. */
export const BOOKS = 1
const CHARGE = 2
const HOLD = 3
const LIMITS = 4
const PROJECT = 5
const ALERTS = 6
const RATES = 7
const TIME = 8
/** The answers to a hold that are not a problem. */
const LIMITED = 5n
const REPEATED = 6n
const problems = [undefined, 'another', 'expired', 'closed', 'no account'] as const

/** A row of the result of `post_v2`. */
export type ResultRow = {
  part: number
  subject: bigint
  v0: bigint | null
  v1: bigint | null
  v2: bigint | null
  v3: bigint | null
  v4: bigint | null
  state: string | null
}

/**
 * A batch of text requests on its way: it is built, sent with one statement, and its answer is read. What throws while
 * it is built was not sent. What throws while its answer is read was committed.
 */
export class PostedBatch {
  readonly #place: LanePlace
  readonly #asked: Asked
  readonly #nowMs: number | null
  readonly #charges: readonly PostedCharge[]
  /** The arguments of `post_v2` that are lists, as text. */
  readonly #lists: Readonly<Record<'accounts' | 'charges' | 'ends' | 'holds', string>>

  /** Throws if a part of it cannot be a row. */
  constructor({ place, nowMs }: { readonly place: LanePlace; readonly nowMs: number | null }, asked: Asked) {
    const accounts = new Set(
      [...asked.charges.map(({ hold }) => hold), ...asked.ends, ...asked.holds].map(accountOf),
    )
    this.#place = place
    this.#asked = asked
    this.#nowMs = nowMs
    this.#charges = asked.charges.map(
      (of, index) => new PostedCharge(of, place.sealedId + 2n + BigInt(index)),
    )
    this.#lists = {
      accounts: list([...accounts].map(String)),
      charges: list(this.#charges.map(charge => record(charge.values()))),
      ends: list(asked.ends.map(hold => record(holdValues(hold)))),
      holds: list(asked.holds.map(hold => record(holdValues(hold)))),
    }
  }

  /** Sends it at once: what is sent after this call arrives after it. */
  async send(sql: SQL): Promise<readonly ResultRow[]> {
    const { accounts, charges, ends, holds } = this.#lists
    const { first, last } = rangeOf(this.#asked.charges)
    return await sql<ResultRow[]>`SELECT * FROM post_v2(
      ${record(placeValues(this.#place))}::lane_place_v1, ${accounts}::bigint[], ${charges}::text_charge_v1[],
      ${first}, ${last}, ${ends}::text_hold_v1[], ${holds}::text_hold_v1[], ${this.#nowMs})`
  }

  /**
   * Reads the answer, and adds the rows that the database wrote to `rows`. They are made of what it returned, with the
   * functions that make them in SQLite, so that both have the same hash.
   */
  read(result: readonly ResultRow[], rows: CommitRows): Answers {
    const books = new Map<bigint, StagedBooks>()
    const limits = new LimitStates()
    const answers: (ResultRow | undefined)[] = this.#asked.holds.map(() => undefined)
    let hasAlerts = false
    let nowMs = 0
    for (const row of result) {
      if (row.part === BOOKS) books.set(row.subject, booksOf(row))
      else if (row.part === CHARGE) this.#charges[Number(row.subject) - 1]?.answered(row)
      else if (row.part === HOLD) answers[Number(row.subject) - 1] = row
      else if (row.part === LIMITS)
        limits.add(Number(row.subject), Number(row.v0), scopeFrom(row.state ?? ''))
      else if (row.part === TIME) nowMs = Number(row.v0)
      else if (row.part === RATES) limits.add(Number(row.subject), nowMs, ratesOf(row, nowMs))
      else if (row.part === PROJECT) limits.addProject(Number(row.subject), Number(row.v0))
      else if (row.part === ALERTS) hasAlerts = true
    }
    for (const charge of this.#charges) charge.addRows(rows, books, this.#place.sealedId + 1n)
    const holds = this.#asked.holds.map((hold, index) => holdAnswer(hold, answers[index], limits))
    return { charges: this.#charges.map(({ answer }) => answer), holds, hasAlerts }
  }
}

/** A charge of a batch, and what became of it. */
class PostedCharge {
  readonly #asked: AskedCharge
  /** Of the charge and of its operation, which are in different tables. */
  readonly #id: bigint
  /** Its row. The books and the hold, which only the database knows, decide the rest of it. */
  readonly #row: ReturnType<typeof chargeRow>
  #answer: ChargeAnswer

  constructor(asked: AskedCharge, id: bigint) {
    const { hold, charge, tariffId } = asked
    const unknown = { shortfall: nanoUsd(0n), operationId: null }
    this.#asked = asked
    this.#id = id
    this.#row = chargeRow(
      { accountId: hold.accountId, current: NO_BOOKS },
      charge,
      { id: hold.id, ...unknown },
      tariffId,
    )
    this.#answer = { captured: { cost: asked.charge.cost, shortfall: nanoUsd(0n) } }
  }

  get answer(): ChargeAnswer {
    return this.#answer
  }

  /** The values of `text_charge_v1`. */
  values(): readonly SqlValue[] {
    const row: Readonly<Record<string, SqlValue | undefined>> = this.#row
    return [this.#id, ...chargeColumns.map(column => row[column] ?? null)]
  }

  answered({ v0: isRepeat, v1: accountId, v2: cost, v3: shortfall }: ResultRow): void {
    if (isRepeat === 0n) {
      this.#answer = { captured: { cost: this.#asked.charge.cost, shortfall: nanoUsd(shortfall ?? 0n) } }
      return
    }
    const isKnown = accountId !== null && cost !== null && shortfall !== null
    this.#answer = { first: isKnown ? { account_id: accountId, cost, shortfall } : null }
  }

  /** Adds the rows that the database wrote for it, and changes the books like it. */
  addRows(rows: CommitRows, books: ReadonlyMap<bigint, StagedBooks>, commitId: bigint): void {
    if ('first' in this.#answer) return
    const { hold, charge } = this.#asked
    const { accountId, id } = hold
    const current = books.get(BigInt(accountId))
    if (current === undefined) throw new Error(`The database returned no books of account ${accountId}.`)
    const amount = nanoUsd(charge.cost - this.#answer.captured.shortfall)
    const write = captureTextHold({ id, amount, state: 'open' }, charge, this.#id)
    if (write === undefined) throw new Error('An open hold has ended.')
    const { booking, operation } = write
    const place = { id: this.#id, commitId }
    const { shortfall, operationId } = booking
    const decided = { previous_id: current.latestChargeId, shortfall, operation_id: operationId }
    rows.add(chargesTable.tag, formOfRow(chargesTable, place, Object.assign(this.#row, decided)))
    current.latestChargeId = this.#id
    const entries = entriesOf(current.balances, operation.movements)
    const row = operationRow({ accountId, current }, operation, entries)
    if (row === null) return
    rows.add(operationsTable.tag, formOfRow(operationsTable, place, row))
    addOperation(current, this.#id, operation.kind, entries)
  }
}

/** The fields of `text_charge_v1` after the row id, in their order. */
const chargeColumns = [
  'id_key',
  'id_tail',
  'account_id',
  'cost',
  'at_ms',
  'api_key_id',
  'model',
  'provider',
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'audio_input',
  'output',
  'reasoning',
  'audio_output',
  'provider_cost',
  'route',
  'provenance',
  'is_clamped',
  'tariff_id',
  'server_tool_uses',
  'search_calls',
  'file_searches',
  'service_tier',
  'assumed_cached',
  'tags',
  'user_id',
] as const

/** The books of an account before the first charge. */
function newBooks(): StagedBooks {
  return {
    balances: { ...NO_BALANCES },
    bookedLosses: nanoUsd(0n),
    operationCount: 0,
    latestOperationId: null,
    latestChargeId: null,
    isClosed: false,
    alert: null,
  }
}

const NO_BOOKS = newBooks()

/** The part of an account's books that charges change, before the batch. */
function booksOf({
  v0: available,
  v1: revenue,
  v2: count,
  v3: latestOperationId,
  v4: latestChargeId,
}: ResultRow) {
  const books = newBooks()
  books.balances.available = nanoUsd(available ?? 0n)
  books.balances['revenue.text'] = nanoUsd(revenue ?? 0n)
  return { ...books, operationCount: Number(count), latestOperationId, latestChargeId }
}

function ratesOf({ v0: scopeId, v1, v2, v3, v4, state }: ResultRow, nowMs: number): LiveScope {
  const [kind = '', ...model] = (state ?? '').split(' ')
  return ratesFrom(
    {
      kind,
      scope_id: scopeId ?? 0n,
      model: model.join(' '),
      requests_per_minute: v1,
      request_parts: v2,
      tokens_per_minute: v3,
      token_parts: v4,
    },
    nowMs,
  )
}

/** In the order of the holds, because each takes of the limits what the next one finds. */
function holdAnswer(hold: TextHoldTerms, row: ResultRow | undefined, limits: LimitStates): HoldAnswer {
  if (row === undefined) {
    const taken = limits.outcomeOf(hold)
    return { outcome: 'held', hold, ...(taken?.outcome === 'taken' && { rates: taken.rates }) }
  }
  const { v0: code, v1: free, v2: media, v3: text } = row
  if (code === LIMITED) {
    const limited = limits.outcomeOf(hold, nanoUsd(free ?? 0n))
    // The rules of the database and of the domain are compared by a property test.
    return limited?.outcome === 'limited' ? limited : { outcome: 'impossible', problem: 'limits' }
  }
  if (code === REPEATED) return { outcome: 'held', hold }
  const problem = problems[Number(code)]
  if (problem !== undefined) return { outcome: 'impossible', problem }
  const heldText = nanoUsd(text ?? 0n)
  return {
    outcome: 'refused',
    available: nanoUsd(free ?? 0n),
    held: addUsd(nanoUsd(media ?? 0n), heldText),
    heldText,
  }
}

export function placeValues({
  lane,
  epoch,
  batch,
  previousBatch,
  lastId,
  sealedId,
  commit,
}: LanePlace): readonly SqlValue[] {
  const stored = [commit?.id, commit?.number, commit?.checksums, commit?.hash]
  return [lane, epoch, batch, previousBatch, lastId, sealedId, ...stored.map(value => value ?? null)]
}

export function holdValues({ id, accountId, amount, demand }: TextHoldTerms): readonly SqlValue[] {
  const terms = [id.key, id.tail, accountId, amount]
  if (demand === undefined) return [...terms, null, null, null, null]
  const { apiKeyId, model, tokens, amount: worstCase } = demand
  return [...terms, apiKeyId, model, tokens, worstCase]
}

/** The smallest and the largest first half of the ids of charges. Null without charges. */
function rangeOf(charges: readonly AskedCharge[]): {
  readonly first: bigint | null
  readonly last: bigint | null
} {
  let first: bigint | null = null
  let last: bigint | null = null
  for (const { hold } of charges) {
    const { key } = hold.id
    if (first === null || key < first) first = key
    if (last === null || key > last) last = key
  }
  return { first, last }
}

function accountOf({ accountId }: TextHoldTerms): number {
  return accountId
}
