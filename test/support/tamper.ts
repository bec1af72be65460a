import { Database } from 'bun:sqlite'
import type { TestSqlite } from './test-store.ts'

/** Changes the open file as a person with access to it could, without the triggers. */
export function tamper({ database }: Pick<TestSqlite, 'database'>, sql: string): void {
  const triggers = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    .all()
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`)
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA ignore_check_constraints = ON')
  database.run(sql)
}

/** Changes a closed file with another program. */
export function tamperFile(path: string, sql: string): void {
  const database = new Database(path, { readwrite: true })
  try {
    tamper({ database }, sql)
  } finally {
    database.close()
  }
}
