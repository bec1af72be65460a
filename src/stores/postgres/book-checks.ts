import type { BegunCheck, BookChecks, StoredCheck } from '../../gateway/ports/ledger/book-checks.ts'
import type { Watch } from './database/poll.ts'
import type { ReadQuery } from './database/reads.ts'
import { list } from './database/literals.ts'

/** The row of the last check, as one node writes and follows it. */
export class PostgresBookChecks implements BookChecks {
  readonly #sql: ReadQuery
  readonly #nowMs: () => number | null
  readonly #listeners = new Set<(check: StoredCheck) => void>()
  /** The number of the result that the listeners know. */
  #told = 0n
  #isReading = false

  /** `nowMs` replaces the clock of the database, for tests. */
  constructor({
    reads,
    nowMs = () => null,
  }: {
    readonly reads: ReadQuery
    readonly nowMs?: () => number | null
  }) {
    this.#sql = reads
    this.#nowMs = nowMs
  }

  /**
   * The time, so that a database that lost the last numbers in a failover gives none of them again; but never less than
   * before, so that a clock that is set back changes no order.
   */
  async begin(): Promise<BegunCheck> {
    const sql = this.#sql
    const [row] = await sql<
      { begun: bigint; number: bigint; full_number: bigint; full_ended_at_ms: bigint }[]
    >`
      UPDATE book_checks SET begun = greatest(begun + 1, now_ms(${this.#nowMs()}))
        RETURNING begun, number, full_number, full_ended_at_ms`
    return {
      number: Number(row?.begun),
      lastNumber: Number(row?.number),
      fullNumber: Number(row?.full_number),
      fullEndedAtMs: Number(row?.full_ended_at_ms),
    }
  }

  /** The order is that of `isLater`. */
  async store({
    number,
    fullNumber,
    lastNumber,
    entries,
    affected,
    openProblems,
  }: Parameters<BookChecks['store']>[0]): Promise<boolean> {
    const accounts = affected === 'everything' ? null : list(affected.map(String))
    const isFull = number === fullNumber
    const sql = this.#sql
    const stored = await sql<unknown[]>`
      WITH now AS MATERIALIZED (SELECT now_ms(${this.#nowMs()}) AS at_ms)
      UPDATE book_checks SET number = ${number}::bigint, ended_at_ms = at_ms,
          entries = ${entries}::bigint, accounts = ${accounts}::bigint[], open_problems = ${openProblems}::bigint,
          full_number = ${fullNumber}::bigint,
          full_ended_at_ms = CASE WHEN ${isFull} THEN at_ms ELSE full_ended_at_ms END
        FROM now WHERE (full_number, number) < (${fullNumber}::bigint, ${number}::bigint)
          AND (${isFull} OR number = ${lastNumber}::bigint OR accounts = '{}')
        RETURNING number`
    return stored.length > 0
  }

  async last(): Promise<StoredCheck | undefined> {
    const sql = this.#sql
    const [row] = await sql<
      {
        number: bigint
        ended_at_ms: bigint
        entries: bigint
        accounts: string | null
        open_problems: bigint
        full_number: bigint
        full_ended_at_ms: bigint
      }[]
    >`
      SELECT number, ended_at_ms, entries, array_to_string(accounts, ',') AS accounts, open_problems, full_number,
          full_ended_at_ms
        FROM book_checks WHERE number > 0`
    return (
      row && {
        number: Number(row.number),
        fullNumber: Number(row.full_number),
        endedAtMs: Number(row.ended_at_ms),
        fullEndedAtMs: Number(row.full_ended_at_ms),
        entries: Number(row.entries),
        affected: affectedIn(row.accounts),
        openProblems: Number(row.open_problems),
      }
    )
  }

  onStored(listener: (check: StoredCheck) => void): void {
    this.#listeners.add(listener)
    this.#told = 0n
  }

  /** Lets each poll find out whether there is another result. */
  get watch(): Watch {
    return {
      sql: 'SELECT number FROM book_checks',
      seen: number => {
        if (number !== this.#told && this.#listeners.size > 0 && !this.#isReading) void this.#tell()
      },
    }
  }

  /** The next poll finds a result that could not be read, or that came meanwhile. */
  async #tell(): Promise<void> {
    this.#isReading = true
    try {
      const check = await this.last()
      if (check === undefined) return
      this.#told = BigInt(check.number)
      for (const listener of this.#listeners) listener(check)
    } catch {
      // A database that does not answer.
    } finally {
      this.#isReading = false
    }
  }
}

function affectedIn(accounts: string | null): StoredCheck['affected'] {
  if (accounts === null) return 'everything'
  return accounts === '' ? [] : accounts.split(',').map(Number)
}
