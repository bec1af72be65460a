import type { StoreNode } from '../../gateway/ports/nodes/store-node.ts'
import { Events } from '../books/events/events.ts'
import { MailRecipients } from '../books/events/mail-recipients.ts'
import { KeptKeys } from '../books/access/kept-keys.ts'
import { BooksOfAccounts } from './ledger/account-books.ts'
import { openCatalog } from './catalog.ts'
import { CommitLog } from './commits/commit-log.ts'
import { openDatabase, type Database } from './database/database.ts'
import { StepDriver } from './commits/step-runner.ts'
import { HintBroadcast } from './ledger/freed-hints.ts'
import { GroupCommit } from './commits/group-commit.ts'
import { openTables } from './commits/hashed-table.ts'
import { KnownReceivers } from './receivers.ts'
import { createLedgerSteps } from './ledger/ledger.ts'
import { openNode, type NodeSettings, type SharedState } from './node.ts'
import type { SecretKey } from '../books/secrets/secret-box.ts'
import { Tariffs } from './ledger/tariffs.ts'
import { Transactions } from './commits/transactions.ts'
import { createWriteProbe } from './database/write-probe.ts'

/** A node that is closed at once. */
export type SqliteNode = Omit<StoreNode, 'close'> & { close(): void }

/** One database file, open. Its contents are used through nodes. */
export type SqliteStore = {
  /** Throws an Error if a node of that name is open. */
  openNode(settings: NodeSettings): SqliteNode
  readonly database: Database
  readonly transactions: Transactions
  /** False while commits fail. While it is false, each call tries another commit. */
  readonly isWritable: () => boolean
  /**
   * The largest first half of an id in the store, 0 if there is none. New ids start after it, so that ids grow with
   * time.
   */
  lastKey(): bigint
  /** Closes all nodes and the database. */
  close(): Promise<void>
}

export type StoreSettings = {
  readonly path: string
  /** The key that provider secrets are encrypted with. */
  readonly secretKey: () => SecretKey
}

/**
 * Opens the store of one database file, whose folder the caller has locked. Throws what `openDatabase` and
 * `openCatalog` throw.
 */
export function openSqliteStore(settings: StoreSettings): SqliteStore {
  const database = openDatabase({ path: settings.path })
  try {
    return storeOf(openShared(database, settings.secretKey()))
  } catch (error) {
    release(database)
    throw error
  }
}

/**
 * Participants write before a commit in the order in which they are made here: the commit log its hash, the books of
 * accounts their balances, the charges the sums of days. So only steps may insert rows that a hash covers. A
 * participant after the commit log may not: the hash would not cover its rows. Balances and sums need no hash, because
 * `verify` compares them with the rows that they are made of.
 */
function openShared(database: Database, secretKey: SecretKey): SharedState {
  const transactions = new Transactions(database)
  const commitLog = CommitLog.open({ database, transactions })
  const tables = openTables({ database, commitLog })
  const hints = new HintBroadcast()
  const booksOfAccounts = new BooksOfAccounts({ database, transactions, tables, hints })
  const stepDriver = new StepDriver({ database, tables, booksOfAccounts })
  const tariffs = new Tariffs({ database, transactions, tables })
  const catalog = openCatalog(stepDriver, secretKey)
  const receivers = new KnownReceivers(transactions)
  const events = new Events(receivers)
  return {
    database,
    transactions,
    stepDriver,
    tariffs,
    tables,
    steps: createLedgerSteps({
      database,
      transactions,
      stepDriver,
      hints,
      booksOfAccounts,
      tariffs,
      events,
    }),
    keptKeys: new KeptKeys(),
    catalog,
    receivers,
    events,
    mailRecipients: new MailRecipients(receivers),
    secretBox: catalog.sealing.box,
    takenLeases: new Map(),
  }
}

function storeOf(shared: SharedState): SqliteStore {
  const { database, transactions } = shared
  const probe = createWriteProbe({ database, transactions, groupCommit: new GroupCommit(transactions) })
  const nodes = new Map<string, SqliteNode>()
  return {
    openNode(settings) {
      if (nodes.has(settings.name)) throw new Error(`There is already an open node "${settings.name}".`)
      const node = openNode(shared, settings, lastKey(database))
      nodes.set(settings.name, node)
      return {
        ...node,
        close() {
          node.close()
          nodes.delete(settings.name)
        },
      }
    },
    database,
    transactions,
    isWritable: probe.isWritable,
    lastKey: () => lastKey(database),
    async close() {
      for (const node of nodes.values()) node.close()
      nodes.clear()
      release(database)
    },
  }
}

/** Finalizes the prepared statements too: while one is left, SQLite keeps the file open. */
function release(database: Database): void {
  database.close(true)
}

function lastKey(database: Database): bigint {
  const row = database
    .query<{ last: bigint }, []>(
      `SELECT max(
        (SELECT ifnull(max(id_key), 0) FROM credits),
        (SELECT ifnull(max(id_key), 0) FROM holds),
        (SELECT ifnull(max(id_key), 0) FROM charges),
        (SELECT ifnull(max(id_key), 0) FROM jobs),
        (SELECT ifnull(max(request_key), 0) FROM attempts)
      ) AS last`,
    )
    .get()
  return row?.last ?? 0n
}
