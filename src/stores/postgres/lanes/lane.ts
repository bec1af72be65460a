import type { SQL } from 'bun'
import type { CommitRows, Hashes } from '../../books/rows/commit-rows.ts'
import { booksInconsistent, type GatewayError } from '../../../domain/errors.ts'
import type { ReadQuery } from '../database/reads.ts'

/** How long a lane may be silent before another process may take it and free its holds. */
export const LANE_TTL_MS = 120_000

/** The hash functions of Bun. */
export const bunHashes: Hashes = {
  crc32: bytes => Bun.hash.crc32(bytes),
  newSha256: () => new Bun.SHA256(),
}

/** The SHA-256 of a text, in hexadecimal digits. */
export function sha256Of(text: string): string {
  return Bun.SHA256.hash(text, 'hex')
}

export type LaneRow = {
  number: bigint
  epoch: bigint
  batch: bigint
  last_id: bigint
  sealed_id: bigint
  commit_number: bigint
  commit_hash: Uint8Array
}

/** A commit of the rows of a batch. The next batch of its lane stores it. */
export type LaneCommit = {
  readonly id: bigint
  readonly number: bigint
  readonly checksums: Uint8Array
  readonly hash: Uint8Array
}

/** The commit that a batch stores itself, and the last row id that it used. */
export type OwnCommit = { readonly commit: LaneCommit; readonly lastId: bigint }

/** The place of a batch in its lane. */
export type LanePlace = {
  readonly lane: bigint
  readonly epoch: bigint
  /** Its number. It grows with each attempt, so that an attempt that arrives late is never taken for a later one. */
  readonly batch: bigint
  /** The batch that it follows: the last one that was committed. */
  readonly previousBatch: bigint
  /** Commits cover the rows until here. The commit of this batch gets the next row id, and its rows those after it. */
  readonly sealedId: bigint
  /** The last row id that the batch can use. */
  readonly lastId: bigint
  /** The commit of the batch before. Undefined if that wrote no rows that a commit covers. */
  readonly commit: LaneCommit | undefined
}

/**
 * What became of a batch that was not answered, and the row of its lane now. It is final: a batch that was not
 * committed never will be. If the lane was taken, it is not known whether the batch was committed before.
 */
export type BatchFate =
  | { readonly fate: 'committed' | 'not committed'; readonly stored: LaneRow }
  | { readonly fate: 'lane taken' }

/**
 * What one process writes through: a sequence of batches, a range of row ids and a chain of commits. A process takes a
 * lane that no other one has; the name of the node is only a label, because the names of containers change.
 *
 * The database knows balances and numbers only when it commits, so a batch returns them, and the hash of its rows is
 * stored with the next batch.
 */
export class Lane {
  readonly #number: bigint
  readonly #epoch: bigint
  /** The last batch that was committed. */
  #batch: bigint
  /** The number of the last attempt to write one. */
  #attempt: bigint
  #lastId: bigint
  /** As it is stored. */
  #sealedId: bigint
  #commit: LaneCommit | undefined
  #chain: Pick<LaneCommit, 'number' | 'hash'>

  constructor(row: LaneRow) {
    this.#number = row.number
    this.#epoch = row.epoch
    this.#batch = row.batch
    this.#attempt = row.batch
    this.#lastId = row.last_id
    this.#sealedId = row.sealed_id
    this.#chain = { number: row.commit_number, hash: row.commit_hash }
  }

  /** Takes the lowest lane that is sealed and was not seen for `LANE_TTL_MS`, or a new one. */
  static async claim(sql: SQL, { label, version, migration, nowMs }: LaneClaim): Promise<Lane> {
    const rows = await sql<
      LaneRow[]
    >`SELECT * FROM claim_lane_v1(${label}, ${version}, ${migration}, ${LANE_TTL_MS}, ${nowMs})`
    const row = rows[0]
    if (row === undefined) throw new Error('The database returned no lane.')
    return new Lane(row)
  }

  get number(): bigint {
    return this.#number
  }

  /** The name of the process that has the lane now. No other one ever has it. */
  get process(): string {
    return processName(this.#number, this.#epoch)
  }

  /** True until the commit of the last batch is stored. */
  get isUnsealed(): boolean {
    return this.#sealedId < this.#lastId
  }

  /** The place of the next attempt, with this number of row ids. */
  next(rows: number): LanePlace {
    this.#attempt += 1n
    return {
      lane: this.#number,
      epoch: this.#epoch,
      batch: this.#attempt,
      previousBatch: this.#batch,
      sealedId: this.#lastId,
      lastId: rows === 0 ? this.#lastId : this.#lastId + 1n + BigInt(rows),
      commit: this.#commit,
    }
  }

  /** The commit of the rows that a batch wrote, if it wrote any. */
  commitAfter({ sealedId }: LanePlace, rows: CommitRows): LaneCommit | undefined {
    return rows.count === 0 ? undefined : this.commitOf(rows, sealedId + 1n)
  }

  /** Goes on after a batch that was committed. The next batch stores its commit. */
  advance({ batch, sealedId, lastId }: LanePlace, commit: LaneCommit | undefined): void {
    this.#batch = batch
    this.#lastId = lastId
    this.#sealedId = sealedId
    this.#commit = commit
    if (commit !== undefined) this.#chain = commit
  }

  /** Goes on after a batch that stored its own commit, if it wrote rows that a commit covers. */
  advanceSealed({ batch, sealedId }: LanePlace, own: OwnCommit | undefined): void {
    this.#batch = batch
    this.#lastId = own?.lastId ?? sealedId
    this.#sealedId = this.#lastId
    this.#commit = undefined
    if (own !== undefined) this.#chain = own.commit
  }

  /** The commit of rows that follow the last commit of the chain. */
  commitOf(rows: CommitRows, id: bigint): LaneCommit {
    const number = this.#chain.number + 1n
    const head = { previous: this.#chain.hash, node: chainName(this.#number), number: Number(number) }
    return { id, number, checksums: rows.checksums(), hash: rows.hash(head) }
  }

  /** Goes on from what is stored, with the rows that no commit covers yet. */
  resume(stored: LaneRow, uncovered: CommitRows): void {
    this.#batch = stored.batch
    this.#lastId = stored.last_id
    this.#sealedId = stored.sealed_id
    this.#chain = { number: stored.commit_number, hash: stored.commit_hash }
    this.#commit = uncovered.count === 0 ? undefined : this.commitOf(uncovered, stored.sealed_id + 1n)
    if (this.#commit !== undefined) this.#chain = this.#commit
  }

  /**
   * Finds out what became of the batch at a place, which is the last one that was sent. Waits for it if the database
   * still works on it, and until it is on disk if it was committed. If it was not, this takes its turn in the lane, so
   * that it is refused if it arrives later. Throws `books_inconsistent` if batches before it are gone, as after a
   * failover to a standby that did not have them.
   */
  async fateOf(sql: SQL, place: LanePlace): Promise<BatchFate> {
    this.#attempt += 1n
    await sql`UPDATE lanes SET batch = ${this.#attempt}
      WHERE number = ${place.lane} AND epoch = ${place.epoch} AND batch = ${place.previousBatch}`
    const [stored] = await sql<LaneRow[]>`SELECT * FROM lanes WHERE number = ${place.lane}`
    // Epochs only grow, and lanes stay: a failover lost that this process took the lane, and all that it wrote.
    if (stored === undefined || stored.epoch < place.epoch) throw lostBatches(place, 0n)
    if (stored.epoch > place.epoch) return { fate: 'lane taken' }
    if (stored.batch < place.previousBatch) throw lostBatches(place, stored.batch)
    await flushed(sql)
    return { fate: stored.batch === place.batch ? 'committed' : 'not committed', stored }
  }

  /** Ends its text holds, and lets another process take the lane at once. */
  async giveBack(sql: SQL, nowMs: number | null): Promise<void> {
    await sql`SELECT close_lane_v1(${this.#number}, ${this.#epoch}, ${nowMs})`
  }
}

export type LaneClaim = {
  readonly label: string
  readonly version: string
  /** The number of the last migration that the gateway knows. */
  readonly migration: number
  /** Null for the clock of the database. */
  readonly nowMs: number | null
}

/** The name of the chain of commits of a lane. */
export function chainName(lane: bigint): string {
  return `lane-${lane}`
}

/** The name of the process that has a lane in an epoch. `job-effects.ts` makes the same in SQL. */
function processName(lane: bigint, epoch: bigint): string {
  return `${chainName(lane)}/${epoch}`
}

function lostBatches({ lane, epoch, previousBatch }: LanePlace, last: bigint): GatewayError {
  const missing = `${last + 1n} to ${previousBatch} of epoch ${epoch}`
  return booksInconsistent(
    'gateway',
    new Error(`The database lost the batches ${missing} of lane ${lane}, which it had acknowledged.`),
  )
}

/**
 * Waits until everything that was committed before is on disk. A batch is committed without waiting, so that its locks
 * are released before the flush. The log is flushed in order, so this commit waits for the batch, too.
 */
export async function flushed(sql: ReadQuery): Promise<void> {
  await sql`SELECT set_config('synchronous_commit', ${'on'}, true), pg_logical_emit_message(true, 'tollgate', '')`
}
