import type { Accounts } from '../../gateway/ports/accounts.ts'
import type { Attempts } from '../../gateway/ports/attempts.ts'
import type { CatalogStore } from '../../gateway/ports/catalog.ts'
import { SqliteAccounts } from './accounts.ts'
import { createAttempts } from './attempts.ts'
import { createAuditLog, type SqliteAuditLog } from './audit-log.ts'
import { openCatalogStore } from './catalog.ts'
import { openDatabase, type Database } from './database.ts'
import { GroupCommit } from './group-commit.ts'
import { createLedger, type SqliteLedger } from './ledger.ts'
import type { SecretKey } from './secrets/secret-box.ts'
import { Tariffs } from './tariffs.ts'
import { Transactions } from './transactions.ts'
import { createWriteProbe } from './write-probe.ts'

/** All that one node keeps, in one file. */
export type SqliteStore = {
  readonly ledger: SqliteLedger
  readonly attempts: Attempts
  readonly accounts: Accounts
  readonly catalog: CatalogStore
  readonly auditLog: SqliteAuditLog
  readonly database: Database
  readonly transactions: Transactions
  /** False while commits fail. Asking then has another one tried. */
  readonly isWritable: () => boolean
  /** The largest id key in the store; zero in a new one. An id source must start after it. */
  lastKey(): bigint
  /** Commits what waits and lets go of the data folder. What comes later is refused with `unavailable`. */
  close(): Promise<void>
}

/** Opens the store of one database file. Throws as `openDatabase` and `openCatalogStore` do. */
export function openSqliteStore(settings: {
  readonly path: string
  /** Under which provider secrets are encrypted. */
  readonly secretKey: () => SecretKey
}): SqliteStore {
  const database = openDatabase({ path: settings.path })
  try {
    const transactions = new Transactions(database)
    const groupCommit = new GroupCommit(transactions)
    const auditLog = createAuditLog(database)
    const secretKey = settings.secretKey()
    const tariffs = new Tariffs({ database, transactions })
    const writes = createWriteProbe({ database, transactions, groupCommit })
    return {
      ledger: createLedger({ database, transactions, groupCommit, auditLog, tariffs }),
      attempts: createAttempts({ database, groupCommit, tariffs }),
      accounts: new SqliteAccounts({ database, groupCommit, auditLog }),
      catalog: openCatalogStore({ database, transactions, groupCommit, auditLog, secretKey }),
      auditLog,
      database,
      transactions,
      isWritable: writes.isWritable,
      lastKey: () => lastKey(database),
      async close() {
        groupCommit.close()
        letGo(database)
      },
    }
  } catch (error) {
    letGo(database)
    throw error
  }
}

/** Ends every statement too: while one is left, SQLite keeps the lock. */
function letGo(database: Database): void {
  database.close(true)
}

function lastKey(database: Database): bigint {
  const row = database
    .query<{ last: bigint }, []>(
      `SELECT max(
        (SELECT ifnull(max(id), 0) FROM credits),
        (SELECT ifnull(max(id), 0) FROM holds),
        (SELECT ifnull(max(id), 0) FROM charges),
        (SELECT ifnull(max(request_key), 0) FROM attempts)
      ) AS last`,
    )
    .get()
  return row?.last ?? 0n
}
