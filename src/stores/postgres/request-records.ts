import type { SQL } from 'bun'
import type { Clock } from '../../gateway/ports/clock.ts'
import type {
  RecordBatch,
  RecordedRequest,
  RequestPage,
  RequestQuery,
  RequestRecordStore,
  RequestReport,
  RequestReportQuery,
} from '../../gateway/ports/requests/request-records.ts'
import {
  countedRefusals,
  countQuery,
  countsOf,
  DELETE_OLD_COUNTS,
  oldCounts,
  requestSumsOf,
  tokensOf,
  type CountRow,
} from '../books/requests/request-counts.ts'
import {
  FIND_REQUEST_BY_JOB,
  readRequestCursor,
  requestListQuery,
  requestPageOf,
  type ListedRequestRow,
} from '../books/requests/request-list.ts'
import { RequestReads } from '../books/requests/request-reads.ts'
import { recordedRequestOf, requestValuesOf, type StoredRequestRow } from '../books/requests/request-rows.ts'
import { storableText, type SqlValue } from '../books/rows/canonical.ts'
import type { Connections } from './database/database.ts'
import { list, record } from './database/literals.ts'
import { TimedConnection } from './database/timed-connection.ts'
import { fromDatabase, numberedText, toDatabase } from './database/values.ts'

/** What is slower has most likely met a database that does not answer. A list by cost may read all records. */
const ANSWER_MS = 10_000
/** A batch is made into text and counts in one turn of the event loop, which takes about a millisecond. */
const BATCH_MAX = 256
/** A node looks at the bounds after it wrote this part of the rows that are kept. */
const LOOKS_PER_BOUND = 64

const FIND_REQUEST = 'SELECT * FROM requests WHERE id = ? ORDER BY row_number LIMIT 1'

/** What the nodes of a database keep together. Beyond the first of these bounds, the oldest part is dropped. */
export type RequestBounds = {
  readonly keptMs: number
  readonly rowsMax: number
  /** Of the tables and their indexes. */
  readonly bytesMax: number
}

type RecordsSettings = {
  readonly clock: Pick<Clock, 'after'>
  readonly bounds: RequestBounds
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number
}

/**
 * Opens the records of requests that all nodes of a database write. They have connections of their own, which connect
 * when they are first used, so that neither a slow batch nor a long list delays a request.
 */
export function openPostgresRecords(
  connections: Pick<Connections, 'connect'>,
  settings: RecordsSettings,
): RequestRecordStore {
  return new PostgresRequestRecords(connections, settings)
}

class PostgresRequestRecords implements RequestRecordStore {
  readonly batchMax = BATCH_MAX
  readonly #settings: RecordsSettings
  readonly #writer: TimedConnection
  readonly #reader: TimedConnection
  readonly #reads = new RequestReads()
  readonly #running = new Set<Promise<unknown>>()
  /** The rows that it may write before it looks at the bounds. */
  #rowsUntilLook = 0
  #isClosed = false

  constructor({ connect }: Pick<Connections, 'connect'>, settings: RecordsSettings) {
    const timed = { connect, clock: settings.clock, answerMs: ANSWER_MS }
    this.#settings = settings
    this.#writer = new TimedConnection(timed)
    this.#reader = new TimedConnection(timed)
  }

  async write(batch: RecordBatch): Promise<{ readonly problem?: string }> {
    try {
      await this.#track(async () => {
        await this.#lookAtBounds(batch.requests.length)
        // A batch that was written without an answer counts as lost. Writing it again could make it twice.
        await this.#writer.ask(sql => insertBatch(sql, batch))
      })
      return {}
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) }
    }
  }

  async list(query: RequestQuery): Promise<RequestPage> {
    // Before the read, because a wrong cursor is not a problem of the records.
    readRequestCursor(query)
    const { sql, values } = requestListQuery(query, { tagRows: 'json_each_text(tags::json)' })
    return this.#reads.run(() =>
      this.#track(async () => requestPageOf(await this.#select<ListedRequestRow>(sql, values), query)),
    )
  }

  async find(id: string): Promise<RecordedRequest | undefined> {
    return this.#reads.run(() =>
      this.#track(async () => {
        for (const sql of [FIND_REQUEST, FIND_REQUEST_BY_JOB]) {
          const [row] = await this.#select<StoredRequestRow>(sql, [id])
          if (row !== undefined) return recordedRequestOf(row)
        }
        return undefined
      }),
    )
  }

  async report(query: RequestReportQuery): Promise<RequestReport> {
    const { sql, values } = countQuery(query)
    return this.#reads.run(() =>
      this.#track(async () => requestSumsOf(await this.#select<CountRow>(sql, values), query.by)),
    )
  }

  async sweep(nowMs: number): Promise<boolean> {
    return this.#track(async () => {
      await this.#writer.ask(async sql => {
        for (const [dimension, beforeMs] of oldCounts(this.#settings.nowMs?.() ?? nowMs))
          await sql.unsafe(numberedText(DELETE_OLD_COUNTS), [dimension, BigInt(beforeMs)])
      })
      const isMoreLeft = await this.#writer.ask(sql =>
        boundRequests(sql, this.#settings.bounds, this.#settings.nowMs?.()),
      )
      // If another node drops parts, or a query reads them, the next sweep looks again.
      return isMoreLeft ?? false
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await Promise.allSettled(this.#running)
    this.#writer.close()
    this.#reader.close()
  }

  async #track<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new Error('The records are closed.')
    const running = work()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Between the sweeps, so that many requests at once cannot fill the disk. */
  async #lookAtBounds(rows: number): Promise<void> {
    this.#rowsUntilLook -= rows
    if (this.#rowsUntilLook > 0) return
    const { bounds, nowMs } = this.#settings
    this.#rowsUntilLook = bounds.rowsMax / LOOKS_PER_BOUND
    // Its problem is that of the write, too, or the next sweep reports it.
    await this.#writer.ask(sql => boundRequests(sql, bounds, nowMs?.())).catch(() => undefined)
  }

  #select<Row>(text: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#reader.ask(sql =>
      sql.begin('read only', async transaction => {
        // The database would go on with a list after its connection was closed.
        await transaction`SELECT set_config('statement_timeout', ${String(ANSWER_MS)}, true)`
        const rows = await transaction.unsafe(numberedText(text), values.map(asParameter))
        return fromDatabase(rows) as readonly Row[]
      }),
    )
  }
}

/**
 * Deletes all records of a database, because they were switched off. Resolves with false if some are left, because a
 * query reads them; then it must be repeated. Records that other nodes still write are not deleted.
 */
export async function removeRequests({ connect }: Pick<Connections, 'connect'>): Promise<boolean> {
  const sql = connect()
  try {
    let isMoreLeft: boolean | null
    do isMoreLeft = await boundRequests(sql, { keptMs: 0, rowsMax: 0, bytesMax: 0 })
    while (isMoreLeft === true)
    await sql`DELETE FROM request_counts`
    return isMoreLeft === false
  } finally {
    await sql.close({ timeout: 0 })
  }
}

async function insertBatch(sql: SQL, batch: RecordBatch): Promise<void> {
  const { requests, alikeRefusals } = batch
  const counts = countsOf({ requests, tokens: tokensOf(requests), refusals: countedRefusals(batch) })
  await sql`SELECT write_requests_v1(
    ${list(requests.map(request => record(requestValuesOf(request))))}::request_v1[],
    ${list([...alikeRefusals.keys()])}::text[], ${list(Array.from(alikeRefusals.values(), String))}::bigint[]),
    count_requests_v1(${list(counts.map(values => record(values)))}::request_count_v1[])`
}

/** Drops at most one part. Null if it could not look or drop now. */
async function boundRequests(
  sql: SQL,
  { keptMs, rowsMax, bytesMax }: RequestBounds,
  nowMs?: number,
): Promise<boolean | null> {
  const bounds = [keptMs, rowsMax, bytesMax].map(BigInt)
  const [row] = await sql<{ more: boolean | null }[]>`SELECT bound_requests_v1(
    ${bounds[0]}::bigint, ${bounds[1]}::bigint, ${bounds[2]}::bigint,
    ${nowMs === undefined ? null : BigInt(nowMs)}::bigint) AS more`
  return row?.more ?? null
}

/** What a list looks for comes from a caller, and can have any sign. */
function asParameter(value: SqlValue): SqlValue {
  return typeof value === 'string' ? storableText(value) : toDatabase(value)
}
