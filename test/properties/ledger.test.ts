import { test } from 'bun:test'
import fc from 'fast-check'
import { histories } from './ledger-histories.ts'
import { live } from './ledger-run.ts'

/** The long run is `bun test/properties/ledger-long.ts 10000`. */
test('the books do what the model does, whatever happens at once, is repeated, fails or is killed', async () => {
  await fc.assert(fc.asyncProperty(histories, live), { numRuns: 60 })
}, 30_000)
