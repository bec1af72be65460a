import type { TestSqlite } from './test-store.ts'

/** Changes the file as a person with access to it could, without the triggers. */
export function tamper({ database }: Pick<TestSqlite, 'database'>, sql: string): void {
  const triggers = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    .all()
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`)
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA ignore_check_constraints = ON')
  database.run(sql)
}
