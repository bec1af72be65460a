import fc from 'fast-check'
import { histories } from './ledger-histories.ts'
import { runHistory } from './ledger-run.ts'

/** `bun test/properties/ledger-long.ts RUNS [SEED]`: the property of ledger.test.ts with any number of runs. */
const [runs = '1000', seed] = process.argv.slice(2)
const numRuns = Number(runs)

await fc.assert(fc.asyncProperty(histories, runHistory), {
  numRuns,
  ...(seed === undefined ? {} : { seed: Number(seed) }),
})
console.log(`${numRuns} histories: in each one the ledger agreed with the model.`)
