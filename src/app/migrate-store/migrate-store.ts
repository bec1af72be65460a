import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { anchorProblemOf } from '../../gateway/books/anchor-keeper.ts'
import { placeOf, type DatabaseServer } from '../../gateway/ports/nodes/database-server.ts'
import type { Problem } from '../../gateway/ports/ledger/ledger.ts'
import type { CopiedRow } from '../../stores/books/rows/copied-table.ts'
import { diskAnchorFile } from '../../stores/disk/anchor-file.ts'
import { useAsOwner } from '../../stores/postgres/store.ts'
import { StoreCopy } from '../../stores/postgres/store-copy.ts'
import { CopiedBooks } from '../../stores/sqlite/database/copied-books.ts'
import { lockFolder } from '../../stores/sqlite/database/folder-lock.ts'
import { openSqliteStore, type SqliteStore } from '../../stores/sqlite/store.ts'
import { openDataFolder, type DataFolder } from '../data-folder.ts'
import { randomInBulk } from '../node/random-in-bulk.ts'
import { NODE_NAME } from '../node/sqlite-node.ts'
import { refuseUnfinishedRestore } from '../restore/restored-books.ts'
import { systemClock } from '../system-clock.ts'

/** The rows of one transaction, unless their texts are long. */
const ROWS_AT_ONCE = 2000
const TEXT_AT_ONCE = 4_000_000
/** More problems would not help the operator. */
const SHOWN_PROBLEMS_MAX = 5

export type MigrateStoreParts = {
  readonly folder: DataFolder
  readonly anchorPath: string
  readonly database: DatabaseServer
  /** For the role that owns the tables. Undefined if that is the one of `database`. */
  readonly databaseOwner: DatabaseServer | undefined
  /** The 32 bytes that the gateways of the database have. */
  readonly secretKey: Uint8Array
  /** Called with each step that can take minutes, for the operator. */
  readonly onStep?: (step: string) => void
  /** Called after each transaction, with the rows of the table that are copied. If it throws, the copy stops there. */
  readonly onRows?: (table: string, rows: number) => void
  readonly rowsAtOnce?: number
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number
}

export type MigratedStore = {
  /** False if an earlier call had finished it. */
  readonly isNew: boolean
  readonly accounts: number
  readonly charges: number
  readonly commits: number
  /** The rows of all tables. */
  readonly rows: number
}

/** Copies the books of the data folder into the database of the settings. */
export async function migrateDataFolder(
  config: Config,
  { anchor }: { readonly anchor: string | undefined },
  onStep: (step: string) => void = () => undefined,
): Promise<MigratedStore & { readonly place: string }> {
  const { dataDir, database, databaseOwner, secretKey } = config
  if (database === undefined || secretKey === undefined)
    throw new Error('Set TOLLGATE_DATABASE_URL to the empty database that the books are copied into.')
  // Checked before the folder is created, because its path is probably mistyped.
  if (!existsSync(join(dataDir, 'tollgate.db')))
    throw new Error(
      `There are no books in ${resolve(dataDir)}. Set TOLLGATE_DATA_DIR to the folder that has them.`,
    )
  const folder = openDataFolder(dataDir)
  const anchorPath = resolve(anchor ?? folder.anchor)
  onStep(`Copying ${folder.path} into the database ${placeOf(database)}`)
  const copied = await migrateStore({ folder, anchorPath, database, databaseOwner, secretKey, onStep })
  return { ...copied, place: placeOf(database) }
}

/**
 * Copies the books of a data folder into an empty PostgreSQL database, compares all rows, and verifies both. What was
 * copied stays copied if it is stopped, and the next call goes on. Throws `DataFolderInUseError` while a gateway runs
 * on the folder, and an Error for the operator if it refuses.
 */
export async function migrateStore(parts: MigrateStoreParts): Promise<MigratedStore> {
  const { folder } = parts
  const lock = lockFolder(folder.path)
  try {
    refuseUnfinishedRestore(folder)
    refuseOtherKey(parts)
    const secretKey = { bytes: parts.secretKey, isNew: false }
    const store = openSqliteStore({ path: folder.database, secretKey: () => secretKey })
    try {
      return await copyInto(store, parts)
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

/** Sealed secrets are copied as they are. */
function refuseOtherKey({ folder, secretKey }: MigrateStoreParts): void {
  if (!folder.hasSecretKey)
    throw new Error(
      `There is no secret.key in ${folder.path}. Put it back, because the provider keys are copied as they are encrypted with it.`,
    )
  if (!Buffer.from(folder.secretKey().bytes).equals(secretKey))
    throw new Error(
      `TOLLGATE_SECRET_KEY is not the key in ${folder.path}/secret.key. The provider keys are copied as they are encrypted, so give the gateways of the database that key.`,
    )
}

async function copyInto(store: SqliteStore, parts: MigrateStoreParts): Promise<MigratedStore> {
  const node = store.openNode({ name: NODE_NAME, clock: systemClock, random64: randomInBulk() })
  await node.finishUpgrade()
  const books = new CopiedBooks(store.database)
  const { identity, tables } = books
  if (identity === undefined) throw new Error(`The books in ${parts.folder.path} are empty.`)
  const counts = new Map(tables.map(table => [table.name, books.count(table)]))
  const count = (name: string) => counts.get(name) ?? 0
  const isNew = await useAsOwner(parts, async (sql, connect) => {
    const source = { tables, identity, nowMs: parts.nowMs }
    if (!(await StoreCopy.isBegun(sql, source))) {
      parts.onStep?.('Checking the books in the data folder')
      refuseUnstorable(books)
      await refuseUnsound(node, parts.anchorPath)
    }
    const copy = await StoreCopy.begin(sql, source)
    if (copy.finishedAtMs !== undefined) return false
    await copyAll({ books, copy, count, connect }, parts)
    return true
  })
  const rows = [...counts.values()].reduce((sum, each) => sum + each, 0)
  return { isNew, accounts: count('accounts'), charges: count('charges'), commits: count('commits'), rows }
}

/** Copies what is missing, and compares everything. */
async function copyAll(
  {
    books,
    copy,
    count,
    connect,
  }: {
    readonly books: CopiedBooks
    readonly copy: StoreCopy
    readonly count: (table: string) => number
    readonly connect: Parameters<StoreCopy['verify']>[0]
  },
  { onStep = () => undefined, onRows = () => undefined, rowsAtOnce = ROWS_AT_ONCE }: MigrateStoreParts,
): Promise<void> {
  await copy.makeRoomFor(books.lastKey)
  for (const table of books.tables) {
    if (copy.copied(table) < count(table.name)) onStep(`Copying ${count(table.name)} rows of ${table.name}`)
    for (const rows of inBatches(books.rows(table, copy.copied(table)), rowsAtOnce)) {
      await copy.append(table, rows)
      onRows(table.name, copy.copied(table))
    }
  }
  await copy.complete()
  onStep('Comparing all rows')
  for (const table of books.tables) await copy.compare(table, books.rows(table))
  onStep('Checking the books in the database')
  refuseProblems('the database', (await copy.verify(connect)).problems)
  await copy.finish(systemClock.now())
}

function* inBatches(rows: Iterable<CopiedRow>, rowsMax: number): Generator<readonly CopiedRow[]> {
  let batch: CopiedRow[] = []
  let text = 0
  for (const row of rows) {
    batch.push(row)
    for (const value of row) if (typeof value === 'string') text += value.length
    if (batch.length < rowsMax && text < TEXT_AT_ONCE) continue
    yield batch
    batch = []
    text = 0
  }
  if (batch.length > 0) yield batch
}

/** The copy gets no anchor before it is used, so a loss must be found now. */
async function refuseUnsound(node: ReturnType<SqliteStore['openNode']>, anchorPath: string): Promise<void> {
  const problem = await anchorProblemOf({
    file: diskAnchorFile(anchorPath),
    chains: node.commitChains,
    auditLog: node.auditLog,
  })
  if (problem !== undefined) throw new Error(`${problem} See "tollgate verify".`)
  refuseProblems('the data folder', (await node.ledger.verify()).problems)
}

function refuseProblems(place: string, problems: readonly Problem[]): void {
  const open = problems.filter(({ isAccepted }) => !isAccepted)
  if (open.length === 0) return
  const shown = open.slice(0, SHOWN_PROBLEMS_MAX).map(({ message }) => `\n  ${message}`)
  const more = open.length > shown.length ? `\n  and ${open.length - shown.length} more` : ''
  throw new Error(`The books in ${place} do not balance.${shown.join('')}${more}`)
}

function refuseUnstorable(books: CopiedBooks): void {
  const found = books.unstorable()
  if (found.length > 0)
    throw new Error(
      `PostgreSQL cannot store texts with the character U+0000. Nothing was copied. They are in:\n  ${found.join('\n  ')}`,
    )
}
