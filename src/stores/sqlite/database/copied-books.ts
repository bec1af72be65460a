import type { Database } from 'bun:sqlite'
import type { SqlValue } from '../../books/rows/canonical.ts'
import {
  nameOfCopied,
  type BooksIdentity,
  type CopiedColumn,
  type CopiedRow,
  type CopiedTable,
} from '../../books/rows/copied-table.ts'

/** The tables that other stores have too. A table comes after those that it refers to. */
const COPIED = [
  'nodes',
  'commits',
  'tariffs',
  'accounts',
  'operations',
  'charges',
  'balances',
  'usage_days',
  'audit_log',
  'projects',
  'api_keys',
  'api_key_secrets',
  'api_key_secret_ends',
  'admin_tokens',
  'users',
  'user_sessions',
  'user_links',
  'key_defaults',
  'limits',
  'credits',
  'corrections',
  'holds',
  'attempts',
  'jobs',
  'job_events',
  'job_keys',
  'catalog_state',
  'catalog_revisions',
  'providers',
  'models',
  'price_lists',
  'provider_versions',
  'model_versions',
  'price_list_versions',
  'balance_alerts',
  'budget_alerts',
  'expiry_alerts',
  'job_alerts',
  'provider_alerts',
  'webhooks',
  'webhook_events',
  'webhook_messages',
  'mail_recipients',
  'mail_messages',
  'mail_state',
]

/** More rows of one kind would not help the operator. */
const SHOWN_MAX = 5

/** The books of a file that nothing writes, row by row. */
export class CopiedBooks {
  readonly tables: readonly CopiedTable[]
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.tables = COPIED.map(name => tableOf(database, name))
  }

  /** Undefined for books without a commit, which were never used. */
  get identity(): BooksIdentity | undefined {
    const hashAt = (order: 'ASC' | 'DESC') =>
      this.#database.query<{ hash: Uint8Array }, []>(`SELECT hash FROM commits ORDER BY id ${order}`).get()
        ?.hash
    const [firstCommit, lastCommit] = [hashAt('ASC'), hashAt('DESC')]
    return firstCommit && lastCommit && { firstCommit, lastCommit }
  }

  /** The largest first half of the ids that operations and charges are stored by. */
  get lastKey(): bigint {
    const row = this.#database
      .query<{ last: bigint }, []>(
        `SELECT max((SELECT ifnull(max(subject_key), 0) FROM operations),
          (SELECT ifnull(max(id_key), 0) FROM charges)) AS last`,
      )
      .get()
    return row?.last ?? 0n
  }

  count({ name }: CopiedTable): number {
    const row = this.#database.query<{ count: bigint }, []>(`SELECT count(*) AS count FROM ${name}`).get()
    return Number(row?.count ?? 0n)
  }

  /** The rows in the order of their key, without the first `skipped` ones. */
  *rows(table: CopiedTable, skipped = 0): Generator<CopiedRow> {
    const { name, columns, key } = table
    const statement = this.#database.prepare<Record<string, SqlValue>, [number]>(
      `SELECT ${namesOf(columns)} FROM ${name} ORDER BY ${namesOf(key)} LIMIT -1 OFFSET ?`,
    )
    try {
      for (const row of statement.iterate(skipped)) yield columns.map(column => row[column.name] ?? null)
    } finally {
      statement.finalize()
    }
  }

  /** The names of rows with a text that PostgreSQL cannot store: it has no U+0000. */
  unstorable(): readonly string[] {
    return this.tables.flatMap(table => {
      const texts = table.columns.filter(({ type }) => type === 'text')
      if (texts.length === 0) return []
      const found = texts.map(({ name }) => `instr(CAST(${name} AS BLOB), x'00') > 0`).join(' OR ')
      const rows = this.#database
        .query<Record<string, SqlValue>, []>(
          `SELECT ${namesOf(table.columns)} FROM ${table.name} WHERE ${found} LIMIT ${SHOWN_MAX}`,
        )
        .all()
      return rows.map(row =>
        nameOfCopied(
          table,
          table.columns.map(({ name }) => row[name] ?? null),
        ),
      )
    })
  }
}

type ColumnInfo = { name: string; type: string; pk: bigint }

function tableOf(database: Database, name: string): CopiedTable {
  const infos = database
    .query<ColumnInfo, [string]>('SELECT name, type, pk FROM pragma_table_info(?)')
    .all(name)
  const columns = infos.map(info => ({ name: info.name, type: typeOf(info) }))
  const places = infos.flatMap(({ pk }, index) => (pk === 0n ? [] : [{ pk: Number(pk), index }]))
  const key = places.sort((a, b) => a.pk - b.pk).flatMap(({ index }) => columns[index] ?? [])
  return { name, columns, key }
}

function typeOf({ type }: ColumnInfo): CopiedColumn['type'] {
  if (type === 'INTEGER') return 'integer'
  return type === 'BLOB' ? 'blob' : 'text'
}

function namesOf(columns: readonly CopiedColumn[]): string {
  return columns.map(({ name }) => name).join(', ')
}
