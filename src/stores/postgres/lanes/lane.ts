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
  readonly batch: bigint
  /** Commits cover the rows until here. The commit of this batch gets the next row id, and its rows those after it. */
  readonly sealedId: bigint
  /** The last row id that the batch can use. */
  readonly lastId: bigint
  /** The commit of the batch before. Undefined if that wrote no rows that a commit covers. */
  readonly commit: LaneCommit | undefined
}

/** What became of a batch that was not answered. */
export type BatchFate = 'committed' | 'not committed' | 'fenced'

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
  #batch: bigint
  #lastId: bigint
  /** As it is stored. */
  #sealedId: bigint
  #commit: LaneCommit | undefined
  #chain: Pick<LaneCommit, 'number' | 'hash'>

  constructor(row: LaneRow) {
    this.#number = row.number
    this.#epoch = row.epoch
    this.#batch = row.batch
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

  /** The place of the next batch, with this number of row ids. */
  next(rows: number): LanePlace {
    return {
      lane: this.#number,
      epoch: this.#epoch,
      batch: this.#batch + 1n,
      sealedId: this.#lastId,
      lastId: rows === 0 ? this.#lastId : this.#lastId + 1n + BigInt(rows),
      commit: this.#commit,
    }
  }

  /** Goes on after a batch that was committed. The next batch stores the commit of its rows. */
  advance({ batch, sealedId, lastId }: LanePlace, rows: CommitRows): void {
    this.#batch = batch
    this.#lastId = lastId
    this.#sealedId = sealedId
    this.#commit = rows.count === 0 ? undefined : this.commitOf(rows, sealedId + 1n)
    if (this.#commit !== undefined) this.#chain = this.#commit
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

  /**
   * Finds out what became of the batch at a place. Waits for it if the database still works on it, and until it is on
   * disk if it was committed. Throws `books_inconsistent` if batches before it are gone, as after a failover to a
   * standby that did not have them.
   */
  async fateOf(sql: SQL, place: LanePlace): Promise<BatchFate> {
    const rows = await sql<Pick<LaneRow, 'epoch' | 'batch'>[]>`
      SELECT epoch, batch FROM lanes WHERE number = ${place.lane} FOR UPDATE`
    const row = rows[0]
    // Epochs only grow, and lanes stay: a failover lost that this process took the lane, and all that it wrote.
    if (row === undefined || row.epoch < place.epoch) throw lostBatches(place, 0n)
    if (row.epoch > place.epoch) return 'fenced'
    if (row.batch < place.batch - 1n) throw lostBatches(place, row.batch)
    if (row.batch < place.batch) return 'not committed'
    await flushed(sql)
    return 'committed'
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

/** The name of the process that has a lane in an epoch. `beside-jobs.ts` makes the same in SQL. */
function processName(lane: bigint, epoch: bigint): string {
  return `${chainName(lane)}/${epoch}`
}

function lostBatches({ lane, epoch, batch }: LanePlace, last: bigint): GatewayError {
  const missing = `${last + 1n} to ${batch - 1n} of epoch ${epoch}`
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
