import fc from 'fast-check'
import { correctionHistories, histories } from './ledger-histories.ts'
import { runHistory } from './ledger-run.ts'

/** `bun test/properties/ledger-long.ts RUNS [SEED]`: the properties of ledger.test.ts with any number of runs. */
const [runs = '1000', seed] = process.argv.slice(2)
const numRuns = Number(runs)

for (const kind of [histories, correctionHistories])
  await fc.assert(fc.asyncProperty(kind, runHistory), {
    numRuns,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  })
console.log(`${numRuns} histories of each kind: in each one the ledger agreed with the model.`)
