import { test } from 'bun:test'
import fc from 'fast-check'
import { histories } from './ledger-histories.ts'
import { runHistory } from './ledger-run.ts'

/** The long run is `bun test/properties/ledger-long.ts 10000`. */
test('the ledger does the same as the model, with concurrency, repeats, failures and crashes', async () => {
  await fc.assert(fc.asyncProperty(histories, runHistory), { numRuns: 60 })
}, 30_000)
