import type { SqliteStore } from '../../src/stores/sqlite/store.ts'

/** Changes what the triggers protect, as somebody with the file in hand could. */
export function tamper({ database }: SqliteStore, sql: string): void {
  const triggers = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    .all()
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`)
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA ignore_check_constraints = ON')
  database.run(sql)
}
