import { describe, expect, test } from 'bun:test'
import { bookedItemsConform } from '../../../../test/conformance/booked-items.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'
import { findItem } from './booked-items.ts'

describe('sqlite', () => bookedItemsConform(sqlite))
conformsOnPostgres(bookedItemsConform)

test('an id that does not exist costs a look into each index, and no range of rows is read', () => {
  const { database } = aSqliteStore()
  const queries: string[] = []
  const step = findItem({ key: 1n, tail: 1n })
  for (let asked = step.next(); asked.done !== true; asked = step.next([]))
    if (asked.value.kind === 'query') queries.push(asked.value.sql)

  const plans = queries.flatMap(query =>
    database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${query}`).all(),
  )

  const reads = plans.map(({ detail }) => detail).filter(detail => /^(?:SCAN|SEARCH) /.test(detail))
  expect(reads).toContainEqual(expect.stringContaining('USING INDEX jobs_by_request'))
  expect(reads.filter(detail => !/ \(\w+=\?(?: AND \w+=\?)*\)$/.test(detail))).toEqual([])
})
