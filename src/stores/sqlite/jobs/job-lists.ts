import type { Database, Statement } from 'bun:sqlite'
import type { JobPage, JobWork, Jobs } from '../../../gateway/ports/jobs.ts'
import { jobFrom, type JobRow } from './job-rows.ts'

type Page = Awaited<ReturnType<Jobs['list']>>

const OPEN = "(state = 'queued' OR state = 'processing' OR state = 'unknown_submit')"

/** Which rows need each kind of work at the instant `$at`. */
const conditionOf = {
  stale_queued: "state = 'queued' AND ifnull(submitted_at_ms, created_at_ms) < $at",
  poll: "state = 'processing' AND next_poll_at_ms <= $at",
  recover: "state = 'unknown_submit'",
  overdue: `${OPEN} AND deadline_at_ms <= $at`,
  watch: 'watch_until_ms IS NOT NULL',
  archive: "state = 'completed' AND archived_at_ms IS NULL AND changed_at_ms <= $at",
} as const satisfies Record<JobWork, string>

/** `Jobs.list` and `Jobs.due`. A cursor is the row id of the last job of the page before. */
export class JobLists {
  readonly #database: Database
  readonly #due = new Map<JobWork, Statement<JobRow, [{ $at: number; $after: bigint; $limit: number }]>>()

  constructor(database: Database) {
    this.#database = database
  }

  list({ accountId, kind, state, limit, cursor }: JobPage): Page {
    const rows = this.#database
      .query<JobRow, [Record<string, string | number | bigint | null>]>(
        `SELECT * FROM jobs
          WHERE row_id < $before
            AND ($account IS NULL OR account_id = $account) AND ($kind IS NULL OR kind = $kind)
            AND ($state IS NULL OR state = $state)
          ORDER BY row_id DESC LIMIT $limit`,
      )
      .all({
        before: cursor === undefined ? LAST : rowIdOf(cursor),
        account: accountId ?? null,
        kind: kind ?? null,
        state: state ?? null,
        limit: limit + 1,
      })
    return pageOf(rows, limit)
  }

  due(work: JobWork, { atMs, limit, after }: Parameters<Jobs['due']>[1]): Page {
    const rows = this.#statement(work).all({
      $at: atMs,
      $after: after === undefined ? 0n : rowIdOf(after),
      $limit: limit + 1,
    })
    return pageOf(rows, limit)
  }

  #statement(work: JobWork) {
    const known = this.#due.get(work)
    if (known !== undefined) return known
    const made: Statement<JobRow, [{ $at: number; $after: bigint; $limit: number }]> = this.#database.prepare(
      `SELECT * FROM jobs WHERE ${conditionOf[work]} AND row_id > $after ORDER BY row_id LIMIT $limit`,
    )
    this.#due.set(work, made)
    return made
  }
}

const LAST = 9_223_372_036_854_775_807n

function pageOf(rows: readonly JobRow[], limit: number): Page {
  const jobs = rows.slice(0, limit)
  const last = jobs.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { jobs: jobs.map(jobFrom), ...(hasMore ? { next: last.row_id.toString(36) } : {}) }
}

/** A cursor that is not ours names no row, and the page is empty. */
function rowIdOf(cursor: string): bigint {
  return /^[0-9a-z]{1,13}$/.test(cursor) ? BigInt(Number.parseInt(cursor, 36)) : 0n
}
