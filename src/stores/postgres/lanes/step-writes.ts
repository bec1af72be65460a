import type { SQL } from 'bun'
import { CommitRows } from '../../books/rows/commit-rows.ts'
import type { HashedTableDefinition, NewRow } from '../../books/rows/hashed-table.ts'
import { chargesTable, operationsTable, tariffsTable } from '../../books/rows/money-tables.ts'
import { formOfRow, insertRow, insertWithSequence } from './hashed-rows.ts'
import { bunHashes, type Lane, type LanePlace, type OwnCommit } from './lane.ts'
import { record } from '../database/literals.ts'
import { placeValues } from './post.ts'

/**
 * Ends a transaction whose node is frozen or cut off between two statements, so that it does not keep its locks. If the
 * node was frozen while a statement waited for another lock, that wait comes first: other nodes wait for the locks for
 * 250 + 500 = 750 ms at most, which leaves a quarter of a second for the work of a request itself.
 */
const IDLE_TIMEOUT = '500ms'
/** A step that waits longer for a lock or a turn is tried again, because the other batches of its node wait. */
const LOCK_TIMEOUT = '250ms'

/** The work of one caller in a transaction of the lane. It may run again, so it keeps nothing outside the database. */
export type Work<T> = (writes: StepWrites) => Promise<T>

/** The tables whose rows every request may write: their ids come from the lane. Other tables have a sequence. */
const laneTables: ReadonlySet<HashedTableDefinition> = new Set([operationsTable, chargesTable, tariffsTable])

/** Whether the row ids of a table come from lanes. */
export function isOfLane(table: HashedTableDefinition): boolean {
  return laneTables.has(table)
}

/** What a step can do: read and write with `sql`, and append rows that the commit of the transaction covers. */
export class StepWrites {
  readonly sql: SQL
  /** Must be called after each answer of the database. Without one in time, the connection counts as lost. */
  readonly answered: () => void
  readonly rows = new CommitRows(bunHashes)
  readonly #commitId: bigint
  #lastId: bigint
  /** The ids that were asked for, by table, until their rows are written. */
  readonly #reserved = new Map<HashedTableDefinition, bigint>()

  constructor(sql: SQL, { sealedId }: LanePlace, answered: () => void) {
    this.sql = sql
    this.answered = answered
    this.#commitId = sealedId + 1n
    this.#lastId = sealedId + 1n
  }

  get lastId(): bigint {
    return this.#lastId
  }

  /**
   * Appends a row to a hashed table. Returns its id. If a unique column has this value already, it writes nothing and
   * returns null.
   */
  async insert<Definition extends HashedTableDefinition>(
    definition: Definition,
    row: NewRow<Definition>,
  ): Promise<bigint | null> {
    const commitId = this.#commitId
    const id = isOfLane(definition)
      ? await this.#insertInLane(definition, row)
      : await insertWithSequence(this.sql, definition, commitId, row)
    if (id !== null) this.rows.add(definition.tag, formOfRow(definition, { id, commitId }, row))
    return id
  }

  /** The id that the next row of a table of the lane gets. */
  nextId(definition: HashedTableDefinition): bigint {
    if (!isOfLane(definition)) throw new Error(`The ids of ${definition.name} come from a sequence.`)
    const id = this.#reserved.get(definition) ?? this.#lastId + 1n
    this.#reserved.set(definition, id)
    if (id > this.#lastId) this.#lastId = id
    return id
  }

  async #insertInLane<Definition extends HashedTableDefinition>(
    definition: Definition,
    row: NewRow<Definition>,
  ): Promise<bigint | null> {
    const id = this.nextId(definition)
    if (!(await insertRow(this.sql, definition, { id, commitId: this.#commitId }, row))) return null
    this.#reserved.delete(definition)
    return id
  }
}

/** What a step returned, and the commit of its rows. */
export type StepOutcome<T> = { readonly result: T; readonly own: OwnCommit | undefined }

/**
 * Runs the work of a step in a transaction, which is the batch at a place of the lane. `ran` is called with the outcome
 * before the commit, so that it is known if the commit is not answered, and `answered` after each answer.
 */
export function runStep<T>(
  sql: SQL,
  at: { readonly lane: Lane; readonly place: LanePlace; readonly nowMs: number | null },
  work: Work<T>,
  { ran, answered }: { readonly ran: (outcome: StepOutcome<T>) => void; readonly answered: () => void },
): Promise<StepOutcome<T>> {
  const { lane, place, nowMs } = at
  return sql.begin(async transaction => {
    await transaction`SELECT set_config('idle_in_transaction_session_timeout', ${IDLE_TIMEOUT}, true),
      set_config('lock_timeout', ${LOCK_TIMEOUT}, true),
      enter_lane_v1(${record(placeValues(place))}::lane_place_v1, now_ms(${nowMs}))`
    answered()
    const writes = new StepWrites(transaction, place, answered)
    const result = await work(writes)
    answered()
    const keep = (outcome: StepOutcome<T>) => {
      ran(outcome)
      return outcome
    }
    if (writes.rows.count === 0) return keep({ result, own: undefined })
    const commit = lane.commitOf(writes.rows, place.sealedId + 1n)
    const { lastId } = writes
    await transaction`
      WITH sealed AS (
        UPDATE lanes SET last_id = ${lastId}, sealed_id = ${lastId}, commit_number = ${commit.number},
          commit_hash = ${commit.hash} WHERE number = ${place.lane} RETURNING node_id
      )
      INSERT INTO commits (id, node_id, number, checksums, hash)
        SELECT ${commit.id}::bigint, node_id, ${commit.number}::bigint, ${commit.checksums}::bytea, ${commit.hash}::bytea
          FROM sealed`
    answered()
    return keep({ result, own: { commit, lastId } })
  })
}
