import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { bookedItemsConform } from '../../../test/conformance/booked-items.ts'
import { aSqliteStore, sqlite } from '../../../test/support/test-store.ts'
import { createBookedItems } from './booked-items.ts'

describe('sqlite', () => bookedItemsConform(sqlite))

test('an id that does not exist costs a look into each index, and no range of rows is read', () => {
  const { database } = aSqliteStore()
  const queries: string[] = []
  const prepare = (query: string) => {
    queries.push(query)
    return database.prepare(query)
  }
  createBookedItems({ prepare } as unknown as Database)

  const plans = queries.flatMap(query =>
    database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${query}`).all(),
  )

  const reads = plans.map(({ detail }) => detail).filter(detail => /^(?:SCAN|SEARCH) /.test(detail))
  expect(reads).toContainEqual(expect.stringContaining('USING INDEX jobs_by_request'))
  expect(reads.filter(detail => !/ \(\w+=\?(?: AND \w+=\?)*\)$/.test(detail))).toEqual([])
})
