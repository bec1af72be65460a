import { keyOf, type HashedTableDefinition } from '../../books/rows/hashed-table.ts'
import { hashedTables } from '../../books/rows/hashed-tables.ts'
import type { BalancesRow } from '../../books/rows/operation-rows.ts'
import { all, first } from '../../books/steps.ts'
import { isOfLane } from '../lanes/step-writes.ts'
import { isConnectionGone, meaningOf } from '../database/database-errors.ts'
import type { Reads } from '../database/reads.ts'
import type { Snapshot } from './snapshot.ts'

/** The lanes share the range of row ids: each has this many bits of it. Rows that were copied have ids before them. */
const LANE_BITS = 43n

type CheckedLane = { number: bigint; last_id: bigint; sealed_id: bigint }

/**
 * What the last check that found nothing had read. A row is new if that check did not see it: row ids grow within a
 * lane. Those of a sequence do not grow with their commits, so their rows are new by the id of their commit; a row
 * with a larger id than any before is new, too, so that one that somebody inserted with an earlier commit is seen.
 */
export class CheckedBooks {
  /** The correct entries that were counted. */
  readonly entries: number
  readonly #lastIds: readonly Interval[]
  readonly #sealedIds: readonly Interval[]
  readonly #lastOfTable: ReadonlyMap<string, bigint>

  private constructor(
    entries: number,
    lanes: readonly CheckedLane[],
    lastOfTable: ReadonlyMap<string, bigint>,
  ) {
    this.entries = entries
    this.#lastIds = intervalsAfter(lanes, ({ last_id }) => last_id)
    this.#sealedIds = intervalsAfter(lanes, ({ sealed_id }) => sealed_id)
    this.#lastOfTable = lastOfTable
  }

  /**
   * Undefined if everything must be read, because no check was sound, or the chains of commits are others now. A stored
   * result that stops something is also a reason to read everything, but not for `only recent`.
   */
  static async in(
    snapshot: Snapshot,
    which: 'recent' | 'only recent' = 'recent',
  ): Promise<CheckedBooks | undefined> {
    const sound = await snapshot.read(() =>
      first<{ entries: bigint }>(which === 'recent' ? `${SOUND} ${STOPS_NOTHING}` : SOUND),
    )
    if (sound === undefined || (await snapshot.read(() => first(OTHER_CHAIN))) !== undefined) return undefined
    const lanes = await snapshot.read(() =>
      all<CheckedLane>('SELECT number, last_id, sealed_id FROM checked_lanes ORDER BY number'),
    )
    const tables = await snapshot.read(() =>
      all<{ name: string; last_id: bigint }>('SELECT name, last_id FROM checked_tables'),
    )
    return new CheckedBooks(
      Number(sound.entries),
      lanes,
      new Map(tables.map(({ name, last_id }) => [name, last_id])),
    )
  }

  /** The condition that a row id of a lane is one that the check had not read. */
  isNew(id: string): string {
    return isIn(this.#lastIds, id)
  }

  /** The condition that a commit is new, by its row id. Rows of lanes are of a new one if their own ids fulfil it. */
  isNewCommit(id: string): string {
    return isIn(this.#sealedIds, id)
  }

  /** The condition that the commit of a row of a hashed table is one that the check had not read. */
  isOfNewCommit(table: HashedTableDefinition): string {
    const { name } = table
    const id = `${name}.${keyOf(table)}`
    if (isOfLane(table)) return this.isNewCommit(id)
    const last = this.#lastOfTable.get(name) ?? 0n
    return `(${id} > ${last} OR ${this.isNewCommit(`${name}.commit_id`)})`
  }
}

/**
 * Notes what a check has read that found nothing: the next one begins there. Writes nothing if another check did so
 * meanwhile, or found a problem, or if the database refuses it: the next check then reads more. Returns the reason of
 * the database, which may refuse it each time.
 */
export async function noteChecked(snapshot: Snapshot, entries: number): Promise<unknown> {
  try {
    await snapshot.write([`UPDATE checked_books SET is_sound = 1, entries = ${entries}`, ...NOTE])
    return undefined
  } catch (error) {
    if (isConnectionGone(error)) throw error
    return meaningOf(error) === 'overtaken' ? undefined : error
  }
}

/** Notes that a full check found a problem, so that the next check is a full one, too. */
export async function noteUnsound(reads: Pick<Reads, 'begin'>): Promise<void> {
  await reads.begin('isolation level read committed', sql => sql`UPDATE checked_books SET is_sound = 0`)
}

type Interval = { readonly after: bigint; readonly until: bigint | undefined }

/** The ids of all lanes without those that were read. */
function intervalsAfter(
  lanes: readonly CheckedLane[],
  readUntil: (lane: CheckedLane) => bigint,
): readonly Interval[] {
  const starts = lanes.map(({ number }) => number << LANE_BITS)
  const ends = [(1n << LANE_BITS) - 1n, ...lanes.map(readUntil)]
  return ends.flatMap((after, index): readonly Interval[] => {
    const next = starts[index]
    if (next === undefined) return [{ after, until: undefined }]
    return after < next - 1n ? [{ after, until: next - 1n }] : []
  })
}

function isIn(intervals: readonly Interval[], id: string): string {
  const conditions = intervals.map(({ after, until }) =>
    until === undefined ? `${id} > ${after}` : `${id} > ${after} AND ${id} <= ${until}`,
  )
  return `(${conditions.join(' OR ')})`
}

const SOUND = 'SELECT entries FROM checked_books WHERE is_sound = 1'

/** The stored result. A gateway of an earlier version does not change `checked_books` if it finds a problem. */
const STOPS_NOTHING = "AND (SELECT accounts = '{}' FROM book_checks)"

/** A lane whose chain does not go on from the commit that was checked last, as after the restore of another backup. */
const OTHER_CHAIN = `SELECT checked.number FROM checked_lanes AS checked
  WHERE NOT EXISTS (
      SELECT FROM lanes WHERE lanes.number = checked.number AND lanes.last_id >= checked.last_id
        AND lanes.sealed_id >= checked.sealed_id AND lanes.commit_number >= checked.commit_number
    )
    OR checked.commit_number > 0 AND NOT EXISTS (
      SELECT FROM (
          SELECT commits.number, hash FROM commits
            WHERE id > checked.number << ${LANE_BITS} AND id <= checked.sealed_id ORDER BY id DESC LIMIT 1
        ) AS last WHERE last.number = checked.commit_number AND last.hash = checked.commit_hash
    )
  LIMIT 1`

const BALANCES = [
  'available',
  'held_text',
  'held_media',
  'cash',
  'promotions',
  'revenue_text',
  'revenue_media',
  'losses',
  'booked_losses',
  'operation_count',
  'latest_operation_id',
  'latest_charge_id',
] as const satisfies (keyof BalancesRow)[]
const columns = (table: string) => BALANCES.map(name => `${table}.${name}`).join(', ')

const NOTE = [
  'DELETE FROM checked_lanes',
  `INSERT INTO checked_lanes (number, last_id, sealed_id, commit_number, commit_hash)
    SELECT number, last_id, sealed_id, commit_number, commit_hash FROM lanes`,
  'DELETE FROM checked_tables',
  `INSERT INTO checked_tables (name, last_id) ${hashedTables
    .filter(table => !isOfLane(table))
    .map(table => `SELECT '${table.name}', coalesce(max(${keyOf(table)}), 0) FROM ${table.name}`)
    .join(' UNION ALL ')}`,
  `UPDATE checked_balances AS c SET (${BALANCES.join(', ')}) = ROW (${columns('b')}) FROM balances AS b
    WHERE b.account_id = c.account_id AND (${columns('c')}) IS DISTINCT FROM (${columns('b')})`,
  `INSERT INTO checked_balances (account_id, ${BALANCES.join(', ')}) SELECT account_id, ${columns('b')} FROM balances AS b
    WHERE (operation_count > 0 OR latest_charge_id IS NOT NULL)
      AND NOT EXISTS (SELECT FROM checked_balances AS c WHERE c.account_id = b.account_id)`,
]
