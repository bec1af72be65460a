import { expect, test } from 'bun:test'
import { adminTokensConform } from '../../../../test/conformance/admin-tokens.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'

adminTokensConform(sqlite)
conformsOnPostgres(adminTokensConform)

test('the sum of the grants of a day is read from an index, and no other day is read', () => {
  const { database } = aSqliteStore()

  const plan = database
    .query<{ detail: string }, []>(
      `EXPLAIN QUERY PLAN SELECT token_day AS day, sum(amount) AS granted FROM credits WHERE token_id = 1
        GROUP BY token_day ORDER BY token_day DESC LIMIT 1`,
    )
    .all()
    .map(({ detail }) => detail)

  expect(plan).toEqual(['SEARCH credits USING COVERING INDEX credits_by_token (token_id=?)'])
})
