import type { Database, Statement } from 'bun:sqlite'
import type { Id } from '../../../domain/ids.ts'
import type { OpenState } from '../../../domain/jobs/job.ts'
import type { DuePage, JobPage, Jobs, JobWork, ProviderWork } from '../../../gateway/ports/jobs.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from '../../books/cursors.ts'
import { jobFrom, type JobRow } from '../../books/jobs/job-rows.ts'

type ListedJobs = Awaited<ReturnType<Jobs['list']>>
type DueParams = Readonly<Record<string, string | number | bigint | null>>

const OPEN = "(state = 'queued' OR state = 'processing' OR state = 'unknown_submit')"

/**
 * The rows that need each kind of work at the instant `$at`. `$left` is the last row of this node's earlier process.
 */
const conditionOf = {
  left_queued: "state = 'queued' AND node = $node AND row_id <= $left",
  stale_queued: "state = 'queued' AND ifnull(submitted_at_ms, created_at_ms) <= $at",
  poll: "state = 'processing' AND next_poll_at_ms <= $at",
  recover: "state = 'unknown_submit'",
  overdue: `${OPEN} AND deadline_at_ms <= $at`,
  watch: 'watch_until_ms > $at',
  archive: "state = 'completed' AND archived_at_ms IS NULL AND changed_at_ms <= $at",
} as const satisfies Record<JobWork, string>

/** Without these, SQLite would read all rows in their order to find a few. */
const indexOf: Partial<Record<JobWork, string>> = {
  watch: 'INDEXED BY jobs_watched',
  archive: 'INDEXED BY jobs_to_archive',
}

/** `Jobs.list`, `Jobs.due` and `Jobs.claim` of one node. A cursor is the row id of the last job of the page before. */
export class JobLists {
  readonly #database: Database
  readonly #node: string
  /** A node of a name is open once, so nothing submits the queued jobs that it had when it was opened. */
  readonly #left: bigint
  readonly #openCounts: Statement<{ state: OpenState; jobs: bigint }, []>
  readonly #endClaim: Statement
  readonly #statements = new Map<string, Statement<JobRow, [DueParams]>>()

  private constructor(database: Database, { node, left }: { readonly node: string; readonly left: bigint }) {
    this.#database = database
    this.#node = node
    this.#left = left
    this.#openCounts = database.prepare(
      `SELECT state, count(*) AS jobs FROM jobs WHERE ${OPEN} GROUP BY state`,
    )
    this.#endClaim = database.prepare(
      'UPDATE jobs SET next_poll_at_ms = ? WHERE id_key = ? AND id_tail = ? AND next_poll_at_ms = ?',
    )
  }

  /** Reads the id of the last job, which is of the process that was this node before. */
  static open(database: Database, node: string): JobLists {
    const row = database.query<{ last: bigint | null }, []>('SELECT max(row_id) AS last FROM jobs').get()
    return new JobLists(database, { node, left: row?.last ?? 0n })
  }

  list({ accountId, kind, state, limit, cursor, isOldestFirst = false, behind }: JobPage): ListedJobs {
    const filters = { account_id: accountId, kind, state }
    const given = Object.entries(filters).flatMap(([column, value]) =>
      value === undefined ? [] : ([[column, value]] as const),
    )
    // Only the conditions that are asked for, so that the list of one account uses the index of its jobs.
    const [isBehind, order] = isOldestFirst ? ['>', 'ASC'] : ['<', 'DESC']
    const where = [
      `row_id ${isBehind} $place`,
      ...given.map(([column]) => `${column} = $${column}`),
      ...(behind === undefined
        ? []
        : [`row_id ${isBehind} (SELECT row_id FROM jobs WHERE id_key = $key AND id_tail = $tail)`]),
    ].join(' AND ')
    const first = isOldestFirst ? 0n : ROW_ID_MAX
    const rows = this.#database
      .query<JobRow, [Record<string, string | number | bigint>]>(
        `SELECT * FROM jobs WHERE ${where} ORDER BY row_id ${order} LIMIT $limit`,
      )
      .all({
        ...Object.fromEntries(given),
        ...behind,
        place: cursor === undefined ? first : readCursor(cursor).value,
        limit: limit + 1,
      })
    return pageOf(rows, limit)
  }

  openCounts(): Record<OpenState, number> {
    const counts: Record<OpenState, number> = { queued: 0, processing: 0, unknown_submit: 0 }
    for (const { state, jobs } of this.#openCounts.all()) counts[state] = Number(jobs)
    return counts
  }

  due(work: JobWork, page: Parameters<Jobs['due']>[1]): ListedJobs {
    const { kind } = page
    const statement = this.#prepared(`${work} ${kind}`, () => {
      const ofKind = kind === undefined ? '' : 'AND kind = $kind'
      return `SELECT * FROM jobs ${indexOf[work] ?? ''}
        WHERE ${conditionOf[work]} AND row_id > $after ${ofKind} ORDER BY row_id LIMIT $limit`
    })
    const rows = statement.all({ ...this.#params(page), limit: page.limit + 1, kind: kind ?? null })
    return pageOf(rows, page.limit)
  }

  /** Inside a step. */
  claim(work: ProviderWork, page: Parameters<Jobs['claim']>[1], untilMs: number): ListedJobs {
    const { id, limit } = page
    const statement = this.#prepared(`claim ${work} ${id === undefined}`, () => {
      const [index, ofId] =
        id === undefined ? [indexOf[work] ?? '', ''] : ['', 'AND id_key = $key AND id_tail = $tail']
      return `UPDATE jobs SET next_poll_at_ms = $until WHERE row_id IN (
        SELECT row_id FROM jobs ${index}
          WHERE ${conditionOf[work]} AND next_poll_at_ms <= $at AND row_id > $after ${ofId}
          ORDER BY row_id LIMIT $limit
        ) RETURNING *`
    })
    const claimed = statement.all({ ...this.#params(page), limit, until: untilMs, ...id })
    // SQLite returns changed rows in any order.
    const rows = claimed.toSorted((left, right) => Number(left.row_id - right.row_id))
    const last = rows.at(-1)
    const isFull = rows.length === limit && last !== undefined
    return { jobs: rows.map(jobFrom), ...(isFull ? { next: cursorOf(last.row_id) } : {}) }
  }

  /** Inside a step. */
  endClaim(
    { key, tail }: Id,
    { claimedUntilMs, atMs }: { readonly claimedUntilMs: number; readonly atMs: number },
  ): void {
    this.#endClaim.run(atMs, key, tail, claimedUntilMs)
  }

  #params({ atMs, after }: DuePage) {
    return {
      at: atMs,
      after: after === undefined ? 0n : readCursor(after).value,
      node: this.#node,
      left: this.#left,
    }
  }

  #prepared(name: string, sql: () => string): Statement<JobRow, [DueParams]> {
    const known = this.#statements.get(name)
    if (known !== undefined) return known
    const made: Statement<JobRow, [DueParams]> = this.#database.prepare(sql())
    this.#statements.set(name, made)
    return made
  }
}

function pageOf(rows: readonly JobRow[], limit: number): ListedJobs {
  const jobs = rows.slice(0, limit)
  const last = jobs.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { jobs: jobs.map(jobFrom), ...(hasMore ? { next: cursorOf(last.row_id) } : {}) }
}
