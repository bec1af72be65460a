import { test } from 'bun:test'
import fc from 'fast-check'
import { correctionHistories, histories } from './ledger-histories.ts'
import { runHistory } from './ledger-run.ts'

/** The long run: `bun test/properties/ledger-long.ts 10000`. */
test('the ledger agrees with the model under concurrent, repeated, failing and killed calls on two nodes', async () => {
  await fc.assert(fc.asyncProperty(histories, runHistory), { numRuns: 60 })
}, 240_000)

test('debits and refunds agree with the model, and the refunds of a charge never exceed it', async () => {
  await fc.assert(fc.asyncProperty(correctionHistories, runHistory), { numRuns: 40 })
}, 240_000)
