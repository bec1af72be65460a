import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Id } from '../../src/domain/ids.ts'
import { nanoUsd, usd } from '../../src/domain/money.ts'
import type { Hold } from '../../src/gateway/ports/ledger/ledger.ts'
import { Batches } from '../../src/stores/postgres/lanes/batches.ts'
import { connections } from '../../src/stores/postgres/database/database.ts'
import { Tariffs } from '../../src/stores/postgres/ledger/tariffs.ts'
import { TextHolds } from '../../src/stores/postgres/ledger/text-holds.ts'
import { aCharge } from '../support/ledger-builders.ts'
import { anAccountIn, problemsOf } from '../support/postgres/books.ts'
import { aDatabase } from '../support/postgres/databases.ts'
import { runServer } from '../support/postgres/run-server.ts'
import { LedgerModel, type ModelTerms, type Outcome } from './ledger-model.ts'
import { createStepRunner } from '../../src/stores/postgres/lanes/step-runner.ts'

const server = await runServer()
const ACCOUNTS = 3
const HOLDS = 12
const RUNS = 60

type Call = {
  readonly call: 'place' | 'capture' | 'release'
  readonly hold: number
  readonly dollars: number
}

/** The calls of one wave go to one node at once, so that they share batches. Each hold occurs once in a wave. */
type Wave = { readonly node: number; readonly calls: readonly Call[] }

const calls = fc.uniqueArray(
  fc.record({
    call: fc.constantFrom('place', 'place', 'capture', 'release'),
    hold: fc.nat(HOLDS - 1),
    dollars: fc.nat(4),
  }) as fc.Arbitrary<Call>,
  { selector: ({ hold }) => hold, maxLength: HOLDS },
)
const histories = fc.array(fc.record({ node: fc.nat(1), calls }), { maxLength: 6 })

test.skipIf(server === undefined)(
  'batches in PostgreSQL have the outcomes of the model of the ledger, and the books are right after them',
  async () => {
    const { openReads, connect } = connections({ url: await aDatabase(server!) })
    const reads = openReads()
    const batches = await Promise.all(['a', 'b'].map(label => Batches.open({ connect, label, version: '1' })))
    const nodes = batches.map(
      of =>
        new TextHolds({ batches: of, reads, tariffs: new Tariffs(createStepRunner({ batches: of, reads })) }),
    )
    let keys = 0n
    // The first charge of a tariff waits for its row, so that the holds of its wave would be in an earlier batch.
    for (const node of nodes) {
      const accountId = await anAccountIn(reads, usd('1'))
      const hold = holdOf({ key: (keys += 1n), accountId, kind: 'text', amount: usd('1') })
      await node.place(hold)
      await node.capture(hold, aCharge(1, { cost: usd('1'), tokens: 1 }))
    }

    await fc.assert(
      fc.asyncProperty(histories, async history => {
        const model = new LedgerModel()
        const accounts: number[] = []
        for (let made = 0; made < ACCOUNTS; made += 1) {
          const accountId = await anAccountIn(reads, usd(String(3 * made)))
          accounts.push(accountId)
          model.credit(
            { key: BigInt(made), accountId, amount: usd(String(3 * made)), source: 'cash' },
            undefined,
          )
        }
        const keyOf = new Map<number, bigint>()
        const termsOf = ({ call, hold, dollars }: Call): ModelTerms => {
          const state = model.stateOf(keyOf.get(hold) ?? 0n)
          // An id is not used again after its hold has ended.
          const isEnded = call === 'place' && (state === 'captured' || state === 'released')
          if (isEnded || !keyOf.has(hold)) keyOf.set(hold, (keys += 1n))
          const [key, accountId] = [keyOf.get(hold)!, accounts[hold % ACCOUNTS]!]
          return { key, accountId, kind: 'text', amount: usd(String(dollars)) }
        }

        for (const wave of history) await runWave(wave, { model, node: nodes[wave.node]!, termsOf })

        for (const accountId of accounts) {
          const { available, held } = model.balance(accountId)
          const [row] = await reads<{ free: bigint; reserved: bigint }[]>`
            SELECT available - reserved AS free, reserved FROM balances WHERE account_id = ${accountId}`
          expect({ ...row! }).toEqual({ free: available, reserved: held.text })
        }
      }),
      { numRuns: RUNS },
    )

    await Promise.all(batches.map(of => of.close()))
    expect(await problemsOf(reads)).toEqual([])
    await reads.close()
  },
  480_000,
)

/** A batch posts its charges first, then the ends of holds, and then the holds. */
const order = ['capture', 'release', 'place'] as const

async function runWave(
  { calls: made }: Wave,
  by: {
    readonly model: LedgerModel
    readonly node: TextHolds
    readonly termsOf: (call: Call) => ModelTerms
  },
): Promise<void> {
  const { model, node, termsOf } = by
  const terms = new Map(made.map(call => [call, termsOf(call)]))
  const answers = made.map(call => outcomeOf(node, holdOf(terms.get(call)!), call))
  const expected = new Map<Call, Outcome>()
  for (const kind of order)
    for (const call of made.filter(one => one.call === kind)) {
      const asked = terms.get(call)!
      if (kind === 'capture') expected.set(call, model.captureHold(asked.key, usd(String(call.dollars))))
      else if (kind === 'release') expected.set(call, model.releaseHold(asked.key))
      else expected.set(call, model.placeHold(asked, 0))
    }
  expect(await Promise.all(answers)).toEqual(made.map(call => expected.get(call)!))
}

function holdOf({ key, accountId, kind, amount }: ModelTerms): Hold {
  return { id: idOf(key), accountId, kind, amount: nanoUsd(amount) }
}

async function outcomeOf(node: TextHolds, hold: Hold, { call, dollars }: Call): Promise<Outcome> {
  try {
    if (call === 'release') {
      await node.release(hold)
      return 'released'
    }
    if (call === 'capture') {
      const charge = aCharge(1, { cost: usd(String(dollars)), tokens: dollars })
      const { cost, shortfall } = await node.capture(hold, charge)
      return { cost, shortfall }
    }
    const outcome = await node.place(hold)
    if (outcome.outcome === 'refused') return { refused: outcome.available, held: outcome.held }
    return outcome.outcome === 'held' ? 'held' : 'error'
  } catch {
    return 'error'
  }
}

function idOf(key: bigint): Id {
  return { key: key / 100n, tail: -key }
}
