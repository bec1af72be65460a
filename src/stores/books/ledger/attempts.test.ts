import { expect, test } from 'bun:test'
import { attemptsConform } from '../../../../test/conformance/attempts.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'

attemptsConform(sqlite)
conformsOnPostgres(attemptsConform)

test.each([
  "SELECT * FROM attempts WHERE state = 'billed' ORDER BY at_ms LIMIT 5",
  "SELECT * FROM attempts WHERE state = 'timed_out' AND at_ms < 7 ORDER BY at_ms LIMIT 5",
])('the reconciler looks at nothing but what it settles: %s', query => {
  const { database } = aSqliteStore()

  const plan = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${query}`).all()

  expect(plan.map(({ detail }) => detail)).toEqual([
    expect.stringContaining('USING INDEX attempts_to_settle'),
  ])
})
