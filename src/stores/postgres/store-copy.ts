import type { SQL } from 'bun'
import type { Verification } from '../../gateway/ports/ledger/ledger.ts'
import type { SqlValue } from '../books/rows/canonical.ts'
import {
  isSameRow,
  nameOfCopied,
  type BooksIdentity,
  type CopiedColumn,
  type CopiedRow,
  type CopiedTable,
} from '../books/rows/copied-table.ts'
import type { Step } from '../books/steps.ts'
import { meaningOf } from './database/database-errors.ts'
import { readIn, readStep } from './lanes/step-runner.ts'
import { limitUsage } from './limits/limit-usage.ts'
import { list } from './database/literals.ts'
import { Snapshot } from './verify/snapshot.ts'
import { verifyBooks } from './verify/verify.ts'

/** The first half of an id has its time in milliseconds above these bits. */
const ID_TIME_SHIFT = 16n
const MONTHS_AHEAD_MAX = 120
/** The tables whose rows the migrations make. A copy replaces them. */
const INITIAL: ReadonlySet<string> = new Set(['catalog_state', 'mail_state'])
const types = { integer: 'bigint', text: 'text', blob: 'bytea' } as const

/** A database that becomes a copy of other books. What was copied stays copied, so a copy that was stopped goes on. */
export class StoreCopy {
  readonly #sql: SQL
  readonly #tables: readonly CopiedTable[]
  readonly #nowMs: () => number | null
  /** The rows of each table that are copied. */
  readonly #copied: Map<string, number>
  /** When an earlier call finished it. */
  readonly finishedAtMs: number | undefined

  private constructor(sql: SQL, { tables, nowMs = () => null }: CopySource, begun: Begun) {
    this.#sql = sql
    this.#tables = tables
    this.#nowMs = nowMs
    this.#copied = begun.copied
    this.finishedAtMs = begun.finishedAtMs
  }

  /**
   * Begins a copy, or goes on with it. Throws an Error for the operator if the database has other books, or another
   * state of these. `sql` has one connection.
   */
  static async begin(sql: SQL, source: CopySource): Promise<StoreCopy> {
    const { tables, identity } = source
    const begun = await sql.begin(async transaction => {
      // No gateway makes a lane meanwhile.
      await transaction`LOCK TABLE lanes IN SHARE ROW EXCLUSIVE MODE`
      const known = await readBegun(transaction, source)
      if (known !== undefined) return known
      await transaction`INSERT INTO store_copy (id, first_commit, last_commit)
        VALUES (1, ${identity.firstCommit}, ${identity.lastCommit})`
      for (const { name } of tables)
        await transaction`INSERT INTO store_copy_tables (name, copied) VALUES (${name}, 0)`
      return { copied: new Map<string, number>(), finishedAtMs: undefined }
    })
    return new StoreCopy(sql, source, begun)
  }

  /** Whether a copy of these books is begun, or was made. Throws what `begin` throws. */
  static async isBegun(sql: SQL, source: CopySource): Promise<boolean> {
    return (await sql.begin(transaction => readBegun(transaction, source))) !== undefined
  }

  copied({ name }: CopiedTable): number {
    return this.#copied.get(name) ?? 0
  }

  /** Appends the next rows of a table. Throws an Error for the operator that names a row that cannot be stored. */
  async append(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    try {
      await this.#insert(table, rows)
    } catch (error) {
      if (!['unfit', 'taken'].includes(meaningOf(error))) throw error
      const [row] = rows
      if (row !== undefined && rows.length === 1) throw unfit(table, row, error as Error)
      for (const each of rows) await this.append(table, [each])
    }
  }

  async #insert(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    const before = this.copied(table)
    const after = before + rows.length
    const arrays = table.columns.map(({ type }, index) =>
      arrayOf(
        type,
        rows.map(row => row[index] ?? null),
      ),
    )
    await this.#sql.begin(async sql => {
      // The last transaction of the copy waits for the disk, and with it for all before it.
      await sql`SELECT set_config('synchronous_commit', ${'off'}, true)`
      const changed = await sql`UPDATE store_copy_tables SET copied = ${BigInt(after)}
        WHERE name = ${table.name} AND copied = ${BigInt(before)} RETURNING name`
      if (changed.length === 0) throw new Error('Another "tollgate migrate-store" copies into this database.')
      await sql.unsafe(insertOf(table), arrays)
    })
    this.#copied.set(table.name, after)
  }

  /**
   * Adds the partitions for ids until this one: clocks may have been wrong. Throws an Error for the operator if it is
   * years ahead.
   */
  async makeRoomFor(key: bigint): Promise<void> {
    const [row] = await this.#sql<{ months: bigint }[]>`
      SELECT (extract(year FROM ahead) * 12 + extract(month FROM ahead) + 1)::bigint AS months
        FROM age(to_timestamp(${Number(key >> ID_TIME_SHIFT)}::double precision / 1000), now()) AS ahead`
    const months = Number(row?.months)
    if (months > MONTHS_AHEAD_MAX)
      throw new Error(
        `There are operations or charges whose ids are ${months} months ahead of the database's clock.`,
      )
    if (months > 0) await this.#sql`SELECT add_partitions(${months})`
  }

  /**
   * Sets what the rows of SQLite do not have: the ids of new rows, which come after the copied ones, and the counts of
   * limits, which include open work and earlier charges. Repeating it changes nothing.
   */
  async complete(): Promise<void> {
    await this.#endSequences()
    const limited = await this.#sql<
      { id: bigint }[]
    >`SELECT DISTINCT account_id AS id FROM limits ORDER BY id`
    for (const { id } of limited) await this.#recount(Number(id))
    // Until then, queries of a new gateway could read large tables from end to end.
    await this.#sql.unsafe(`ANALYZE ${this.#tables.map(({ name }) => name).join(', ')}`)
  }

  async #recount(accountId: number): Promise<void> {
    await this.#sql.begin(sql => readIn(sql, () => limitUsage(this.#nowMs).recount(accountId)))
  }

  async #endSequences(): Promise<void> {
    for (const { name, key } of this.#tables) {
      const [column] = key
      if (column === undefined || key.length > 1 || column.type !== 'integer') continue
      await this.#sql.unsafe(`SELECT setval(sequence, max(${column.name}))
        FROM ${name}, pg_get_serial_sequence('${name}', '${column.name}') AS sequence
        WHERE sequence IS NOT NULL GROUP BY sequence`)
    }
  }

  /** Throws an Error for the operator that names the first row in which the two stores differ. */
  async compare(table: CopiedTable, expected: Iterable<CopiedRow>): Promise<void> {
    const rows = expected[Symbol.iterator]()
    await Snapshot.take(this.#sql, async snapshot => {
      const cursor = await snapshot.open(selectInOrder(table))
      while (!cursor.isDone)
        for (const row of (await cursor.nextValues()) as readonly CopiedRow[]) {
          const next = rows.next()
          if (next.done === true) throw different(table, row)
          if (!isSameRow(next.value, row)) throw different(table, next.value)
        }
    })
    const left = rows.next()
    if (left.done !== true) throw different(table, left.value)
  }

  /** Checks the books as `Ledger.verify` does, without the files of results, over a connection of its own. */
  verify(connect: () => SQL): Promise<Verification> {
    const read = <T>(step: () => Step<T>) => readStep(this.#sql, step)
    return verifyBooks({ connect, stepRunner: { read }, recount: id => this.#recount(id) }, undefined)
  }

  /** Gateways can use the database from now on. */
  async finish(nowMs: number): Promise<void> {
    await this.#sql`UPDATE store_copy SET finished_at_ms = ${BigInt(nowMs)}`
  }
}

/** The books that are copied. */
export type CopySource = {
  readonly tables: readonly CopiedTable[]
  readonly identity: BooksIdentity
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: (() => number | null) | undefined
}

type Begun = { readonly copied: Map<string, number>; readonly finishedAtMs: number | undefined }

/** Undefined for an empty database. */
async function readBegun(sql: SQL, { tables, identity }: CopySource): Promise<Begun | undefined> {
  const [copy] = await sql<
    { first_commit: Uint8Array; last_commit: Uint8Array; finished_at_ms: bigint | null }[]
  >`SELECT first_commit, last_commit, finished_at_ms FROM store_copy`
  if (copy === undefined) {
    await requireEmpty(sql, tables)
    return undefined
  }
  if (!Buffer.from(copy.first_commit).equals(identity.firstCommit))
    throw new Error('The database has a copy of other books. Name another database, or another data folder.')
  if (!Buffer.from(copy.last_commit).equals(identity.lastCommit))
    throw new Error(
      'The books in the data folder have changed since they were copied. To copy them as they are now, name an empty database.',
    )
  const progress = await sql<{ name: string; copied: bigint }[]>`SELECT name, copied FROM store_copy_tables`
  return {
    copied: new Map(progress.map(({ name, copied }) => [name, Number(copied)])),
    finishedAtMs: copy.finished_at_ms === null ? undefined : Number(copy.finished_at_ms),
  }
}

/** A database that a gateway used has a lane, even if there is nothing else in it. */
async function requireEmpty(sql: SQL, tables: readonly CopiedTable[]): Promise<void> {
  const names = ['lanes', ...tables.map(({ name }) => name).filter(name => !INITIAL.has(name))]
  for (const name of names) {
    const [row] = await sql.unsafe<{ is_used: boolean }[]>(`SELECT EXISTS (SELECT FROM ${name}) AS is_used`)
    if (row?.is_used === true)
      throw new Error(
        `The database is not empty: a gateway has used it (table ${name}). Books are only copied into an empty database.`,
      )
  }
}

function insertOf({ name, columns, key }: CopiedTable): string {
  const names = columns.map(column => column.name)
  const arrays = columns.map(({ type }, index) => `CAST($${index + 1}::text AS ${types[type]}[])`)
  const insert = `INSERT INTO ${name} (${names.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})`
  if (!INITIAL.has(name)) return insert
  const changes = names.map(column => `${column} = excluded.${column}`).join(', ')
  return `${insert} ON CONFLICT (${key.map(column => column.name).join(', ')}) DO UPDATE SET ${changes}`
}

/** As SQLite orders them. */
function selectInOrder({ name, columns, key }: CopiedTable): string {
  const order = key.map(column => (column.type === 'text' ? `${column.name} COLLATE "C"` : column.name))
  return `SELECT ${columns.map(column => column.name).join(', ')} FROM ${name} ORDER BY ${order.join(', ')}`
}

/** An array as PostgreSQL reads it from text. */
function arrayOf(type: CopiedColumn['type'], values: readonly SqlValue[]): string {
  if (type === 'integer') return `{${values.map(value => value ?? 'NULL').join(',')}}`
  return list(values.map(textOf))
}

function textOf(value: SqlValue): string | null {
  return value instanceof Uint8Array
    ? String.raw`\x${Buffer.from(value).toString('hex')}`
    : (value as string | null)
}

function unfit(table: CopiedTable, row: CopiedRow, cause: Error): Error {
  return new Error(`PostgreSQL cannot store ${nameOfCopied(table, row)}: ${cause.message}.`, { cause })
}

function different(table: CopiedTable, row: CopiedRow): Error {
  return new Error(
    `The copy differs from the data folder in ${nameOfCopied(table, row)}. One of them was changed meanwhile. Copy the books into an empty database.`,
  )
}
