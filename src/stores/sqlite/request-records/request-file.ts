import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { Database, type Statement as SqlStatement } from 'bun:sqlite'
import { idTimeMs, parseId } from '../../../domain/ids.ts'
import type {
  RecordedRequest,
  RequestPage,
  RequestQuery,
  RequestReport,
  RequestReportQuery,
} from '../../../gateway/ports/requests/request-records.ts'
import {
  COUNT_COLUMNS,
  countQuery,
  DELETE_OLD_COUNTS,
  oldCounts,
  requestSumsOf,
  type CountRow,
  type RequestCount,
} from '../../books/requests/request-counts.ts'
import {
  FIND_REQUEST_BY_JOB,
  IS_FAILED,
  requestListQuery,
  requestPageOf,
  type ListedRequestRow,
} from '../../books/requests/request-list.ts'
import {
  recordedRequestOf,
  REQUEST_COLUMNS,
  type RequestValues,
  type StoredRequestRow,
} from '../../books/requests/request-rows.ts'

/** What the file keeps. Beyond the first of these bounds, the oldest records are deleted. */
export type RequestFileBounds = {
  readonly keptMs: number
  readonly rowsMax: number
  /** Of all files together. */
  readonly bytesMax: number
}

/** A batch as the worker gets it. */
export type RowBatch = {
  readonly rows: readonly RequestValues[]
  readonly counts: readonly RequestCount[]
  readonly alikeRefusals: readonly (readonly [id: string, count: number])[]
  readonly nowMs: number
}

/** The form of the tables. A file with another form is put aside, because its records are only kept for days. */
const FORM = 3
/** The form before, without counts. They are added. */
const FORM_WITHOUT_COUNTS = 2

const PAGE_BYTES = 4096
/** The part of `bytesMax` for the write-ahead log: a batch changes a few thousand pages at most. */
const JOURNAL_BYTES = 8_388_608
/** Deletion begins when a batch would fill this part of the pages. A row with its indexes is taken for a page. */
const FULL_PERCENT = 90
/** Deleting this many rows takes a few milliseconds. */
const DELETED_MAX = 1000
/** The turns of deletion before a batch. Together they delete more than a batch adds, also if new rows are larger. */
const TURNS_MAX = 4
/** Pages that are given back to the file system in a turn, after the bound was lowered. */
const VACUUMED_PAGES = 256
const BUSY_MS = 2000
/** The page cache: 2 MiB. */
const CACHE_KIB = 2048

/**
 * The file of request records. Every method is synchronous, so that it runs in a worker. It opens the file when it is
 * first used. A damaged file is put aside, with the suffix `.damaged`, and a new one begun; `onDamaged` is told.
 */
export class RequestFile {
  readonly #path: string
  readonly #bounds: RequestFileBounds
  readonly #onDamaged: (problem: string) => void
  #opened: OpenedFile | undefined

  constructor(
    path: string,
    { bounds, onDamaged }: { bounds: RequestFileBounds; onDamaged: (problem: string) => void },
  ) {
    this.#path = path
    this.#bounds = bounds
    this.#onDamaged = onDamaged
  }

  /** Deletes a few turns of old records, and writes the batch in one transaction. Throws if it cannot be written. */
  write(batch: RowBatch): void {
    this.#use(file => {
      // First, because a batch may not fit before.
      const room = batch.rows.length
      for (let turn = 0; turn < TURNS_MAX && this.#deleteOld(file, batch.nowMs, room); turn += 1);
      insertBatch(file, batch)
    })
  }

  list(query: RequestQuery): RequestPage {
    const { sql, values } = requestListQuery(query, { tagRows: 'json_each(tags)', indexedPart })
    return this.#use(({ database }) => {
      const rows = database.query<ListedRequestRow, (string | number | bigint)[]>(sql).all(...values)
      return requestPageOf(rows, query)
    })
  }

  find(id: string): RecordedRequest | undefined {
    return this.#use(({ statements }) => {
      const timeMs = requestTimeMs(id)
      const row = timeMs === undefined ? statements.findByJob.get(id) : statements.find.get(timeMs, id)
      return row === null ? undefined : recordedRequestOf(row)
    })
  }

  report(query: RequestReportQuery): RequestReport {
    const { sql, values } = countQuery(query)
    return this.#use(({ database }) =>
      requestSumsOf(database.query<CountRow, (string | number)[]>(sql).all(...values), query.by),
    )
  }

  /** Deletes one turn of old records, and old counts. Returns true if more are left. */
  sweep(nowMs: number): boolean {
    return this.#use(file => {
      for (const counts of oldCounts(nowMs)) file.statements.deleteCounts.run(...counts)
      return this.#deleteOld(file, nowMs, 0)
    })
  }

  close(): void {
    if (this.#opened === undefined) return
    const { database, statements } = this.#opened
    this.#opened = undefined
    // Otherwise the file stays open until they are collected as garbage.
    for (const statement of Object.values(statements)) statement.finalize()
    database.close()
  }

  /** Uses the file, and a second time with a new file if the first one was damaged. */
  #use<Result>(use: (file: OpenedFile) => Result): Result {
    try {
      return this.#try(use)
    } catch (error) {
      if (!isDamage(error)) throw error
      putAside(this.#path)
      this.#onDamaged(error instanceof Error ? error.message : String(error))
      return this.#try(use)
    }
  }

  /** After an error, the file is opened again: it may have been removed, or the disk may have been full. */
  #try<Result>(use: (file: OpenedFile) => Result): Result {
    try {
      this.#opened ??= openFile(this.#path, this.#bounds)
      return use(this.#opened)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Deletes one turn of old records, to leave room for so many pages. Returns true if more must be deleted. */
  #deleteOld(file: OpenedFile, nowMs: number, room: number): boolean {
    const { keptMs, rowsMax } = this.#bounds
    const expired = file.statements.deleteExpired.run(nowMs - keptMs, DELETED_MAX).changes
    file.rows -= expired
    const isTooLarge = () => file.usedPages() + room > (file.pagesMax * FULL_PERCENT) / 100
    const surplus = Math.max(file.rows - rowsMax, isTooLarge() ? DELETED_MAX : 0)
    const deleted = surplus > 0 ? file.statements.deleteOldest.run(Math.min(surplus, DELETED_MAX)).changes : 0
    file.rows -= deleted
    if (file.pages() > file.pagesMax) file.database.run(`PRAGMA incremental_vacuum(${VACUUMED_PAGES})`)
    return expired === DELETED_MAX || (deleted > 0 && (file.rows > rowsMax || isTooLarge()))
  }
}

type OpenedFile = {
  readonly database: Database
  /** The number of records. */
  rows: number
  readonly pagesMax: number
  readonly pages: () => number
  readonly usedPages: () => number
  readonly statements: RequestStatements
}

type RequestStatements = {
  readonly insert: SqlStatement
  readonly noteAlike: SqlStatement<unknown, [count: number, atMs: number, id: string]>
  readonly find: SqlStatement<StoredRequestRow, [atMs: number, id: string]>
  readonly findByJob: SqlStatement<StoredRequestRow, [string]>
  readonly addCount: SqlStatement<unknown, (string | number)[]>
  readonly deleteCounts: SqlStatement<unknown, [string, number]>
  readonly deleteExpired: SqlStatement<unknown, [number, number]>
  readonly deleteOldest: SqlStatement<unknown, [number]>
}

function openFile(path: string, { bytesMax }: RequestFileBounds): OpenedFile {
  // SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600))
  const database = new Database(path, { create: true, readwrite: true, safeIntegers: true, strict: true })
  try {
    return prepared(database, Math.max(Math.floor((bytesMax - JOURNAL_BYTES) / PAGE_BYTES), 1))
  } catch (error) {
    database.close()
    throw error
  }
}

function prepared(database: Database, pagesMax: number): OpenedFile {
  // A worker that was replaced may still have the file.
  database.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
  database.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  database.run('PRAGMA auto_vacuum = INCREMENTAL')
  database.run('PRAGMA journal_mode = WAL')
  // A kill loses nothing of a written batch, and a power failure may lose the last ones.
  database.run('PRAGMA synchronous = NORMAL')
  database.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  database.run(`PRAGMA journal_size_limit = ${JOURNAL_BYTES}`)
  database.run('PRAGMA temp_store = MEMORY')
  const number = (sql: string) => Number(database.query<[bigint], []>(sql).values()[0]?.[0] ?? 0)
  const readForm = () => number('PRAGMA user_version')
  // In a transaction, because another connection may create the tables now.
  if (readForm() !== FORM) database.transaction(() => createTables(database, readForm())).immediate()
  const form = readForm()
  if (form !== FORM) throw new OtherFormError(form)
  // More pages than this cannot be used, also if a batch is unusually large.
  database.run(`PRAGMA max_page_count = ${pagesMax}`)
  const pages = () => number('PRAGMA page_count')
  return {
    database,
    rows: number('SELECT count(*) FROM requests'),
    pagesMax,
    pages,
    usedPages: () => pages() - number('PRAGMA freelist_count'),
    statements: statementsOf(database),
  }
}

function statementsOf(database: Database): RequestStatements {
  const columns = Object.keys(REQUEST_COLUMNS)
  const deleteThe = (rows: string) =>
    `DELETE FROM requests WHERE row_number IN (SELECT row_number FROM requests ${rows} LIMIT ?)`
  return {
    insert: database.prepare(
      `INSERT INTO requests (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ),
    noteAlike: database.prepare('UPDATE requests SET alike_refusals = ? WHERE at_ms = ? AND id = ?'),
    addCount: database.prepare(
      `INSERT INTO request_counts VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET count = count + excluded.count`,
    ),
    deleteCounts: database.prepare(DELETE_OLD_COUNTS),
    find: database.prepare('SELECT * FROM requests WHERE at_ms = ? AND id = ? ORDER BY row_number LIMIT 1'),
    findByJob: database.prepare(FIND_REQUEST_BY_JOB),
    deleteExpired: database.prepare(deleteThe('WHERE at_ms < ? ORDER BY at_ms')),
    deleteOldest: database.prepare(deleteThe('ORDER BY row_number')),
  }
}

/** Creates the tables that a file with this form does not have. */
function createTables(database: Database, form: number): void {
  if (form !== 0 && form !== FORM_WITHOUT_COUNTS) return
  const listed = (columns: Readonly<Record<string, string>>) =>
    Object.entries(columns)
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')
  if (form === 0) {
    database.run(`CREATE TABLE requests (row_number INTEGER PRIMARY KEY, ${listed(REQUEST_COLUMNS)}) STRICT`)
    for (const [name, columns, where] of INDEXES)
      database.run(
        `CREATE INDEX requests_by_${name} ON requests (${columns}) ${where === undefined ? '' : `WHERE ${where}`}`,
      )
  }
  database.run(
    `CREATE TABLE request_counts (${listed(COUNT_COLUMNS)},
      PRIMARY KEY (dimension, from_ms, name, measure, bucket)) STRICT, WITHOUT ROWID`,
  )
  database.run(`PRAGMA user_version = ${FORM}`)
}

/**
 * The indexes of accounts and keys have the last digits of an id, which are random: whole ids would make an entry twice
 * as large, and a batch write more pages.
 */
function indexedPart(id: string): string {
  return `substr(${id}, -6)`
}

/** When a request arrived, by its id. Undefined for another id. With it, a request is found without an index of ids. */
function requestTimeMs(id: string): number | undefined {
  const request = parseId('req', id)
  return request === undefined ? undefined : idTimeMs(request)
}

/**
 * Each ends with the row number, as all indexes of SQLite do. None is by cost or duration: their values come in no
 * order, so each new row would write a page of its own. A list in such an order reads all rows of its filter.
 *
 * A file of an earlier version has whole ids in the indexes of accounts and keys, which serve the same lists.
 */
const INDEXES: readonly (readonly [name: string, columns: string, where?: string])[] = [
  ['time', 'at_ms'],
  ['account', `${indexedPart('account_id')}, at_ms`],
  ['key', `${indexedPart('api_key_id')}, at_ms`],
  ['model', 'model, at_ms', 'model IS NOT NULL'],
  ['code', 'error_code, at_ms', 'error_code IS NOT NULL'],
  ['failure', 'at_ms', IS_FAILED],
  ['job', 'job_id', 'job_id IS NOT NULL'],
]

function insertBatch(file: OpenedFile, { rows, counts, alikeRefusals }: RowBatch): void {
  file.database.transaction(() => {
    // SQLite converts the digits of an amount, because the columns have the type INTEGER.
    for (const values of rows) file.statements.insert.run(values)
    for (const values of counts) file.statements.addCount.run(...values)
    for (const [id, count] of alikeRefusals) file.statements.noteAlike.run(count, requestTimeMs(id) ?? 0, id)
  })()
  file.rows += rows.length
}

/** The table was made by another version. */
class OtherFormError extends Error {
  constructor(form: number) {
    super(`its form ${form} is that of another version`)
  }
}

function isDamage(error: unknown): boolean {
  if (error instanceof OtherFormError) return true
  const { code = '' } = error as { readonly code?: string }
  return ['SQLITE_CORRUPT', 'SQLITE_NOTADB'].some(prefix => code.startsWith(prefix))
}

/** Replaces the file that was put aside before, so that damage never fills the disk. */
function putAside(path: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  if (existsSync(path)) renameSync(path, `${path}.damaged`)
}

/** Removes the records, because they were switched off. */
export function removeRequestFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '.damaged']) rmSync(`${path}${suffix}`, { force: true })
}
