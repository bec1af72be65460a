import type { SqliteStore } from '../../src/stores/sqlite/store.ts'

/** Changes rows that triggers protect, like someone with access to the file. */
export function tamper({ database }: SqliteStore, sql: string): void {
  const triggers = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    .all()
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`)
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA ignore_check_constraints = ON')
  database.run(sql)
}
