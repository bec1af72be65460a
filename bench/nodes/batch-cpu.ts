/**
 * Measures what a node spends on a hold and its charge in PostgreSQL: its own CPU time, beside the time of its server.
 * It posts pairs from many clients through `TextHolds`, for accounts without limits and with two limited scopes:
 *
 *     sh scripts/bun.sh all bench/nodes/batch-cpu.ts [PAIRS [CLIENTS]]
 *
 * Few clients make small batches, whose fixed cost counts most. Compare the numbers of two versions on the same machine,
 * one after the other: other work slows both.
 */
import { SQL } from 'bun'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import { nanoUsd } from '../../src/domain/money.ts'
import type { TextHoldTerms } from '../../src/stores/books/ledger/holds.ts'
import { limitChanges } from '../../src/stores/books/access/limit-changes.ts'
import { Batches } from '../../src/stores/postgres/lanes/batches.ts'
import { connections } from '../../src/stores/postgres/database/database.ts'
import { createStepRunner } from '../../src/stores/postgres/lanes/step-runner.ts'
import { limitUsage } from '../../src/stores/postgres/limits/limit-usage.ts'
import { Tariffs } from '../../src/stores/postgres/ledger/tariffs.ts'
import { TextHolds } from '../../src/stores/postgres/ledger/text-holds.ts'
import { aCharge, anId } from '../../test/support/ledger-builders.ts'
import { aKeyIn, anAccountIn } from '../../test/support/postgres/books.ts'
import { aDatabase } from '../../test/support/postgres/databases.ts'
import { PostgresServer } from '../../test/support/postgres/server.ts'
import { serverCpu } from './measure-nodes.ts'

const pairs = Number(process.argv[2] ?? 20_000)
const clients = Number(process.argv[3] ?? 256)
const ACCOUNTS = 1000
const WARM_UP = 2000

const server = await PostgresServer.start(18)
const url = await aDatabase(server)
const { openReads, connect } = connections({ url })
const admin = new SQL({ url, bigint: true, max: 1 })
const reads = openReads()
const batches = await Batches.open({ connect, label: 'bench', version: '1' })
const holds = new TextHolds({ batches, reads, tariffs: new Tariffs(createStepRunner({ batches, reads })) })

try {
  for (const name of ['without limits', 'two limited scopes'] as const) {
    const payers = await makePayers(name === 'two limited scopes')
    await run(payers, WARM_UP)
    const startedAtMs = performance.now()
    const cpu = process.cpuUsage()
    const serverMs = await serverCpu(admin)
    await run(payers, pairs)
    const { user, system } = process.cpuUsage(cpu)
    const ms = performance.now() - startedAtMs
    const serverUs = ((await serverCpu(admin)) - serverMs) * 1000
    const [ofNode, ofServer] = [user + system, serverUs].map(us => (us / pairs).toFixed(1))
    const rate = Math.round(pairs / (ms / 1000))
    console.log(`${name}: ${rate} pairs/s, ${ofNode} µs of the node and ${ofServer} of the server a pair`)
  }
} finally {
  await batches.close()
  await reads.close()
  await admin.close({ timeout: 0 })
  await server.crash()
}

type Payer = { readonly accountId: number; readonly apiKeyId: number }

async function makePayers(isLimited: boolean): Promise<readonly Payer[]> {
  const change = limitChanges(limitUsage(() => null))
  const stepRunner = createStepRunner({ batches, reads })
  const payers: Payer[] = []
  for (let made = 0; made < ACCOUNTS; made += 1) {
    const accountId = await anAccountIn(reads, nanoUsd(10n ** 18n))
    const apiKeyId = await aKeyIn(reads, accountId)
    payers.push({ accountId, apiKeyId })
    if (!isLimited) continue
    const patch = {
      limits: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 },
      budgets: { month: nanoUsd(10n ** 17n) },
    }
    const line = { action: 'key.limits', subject: 'key' }
    await stepRunner.write('access', function* () {
      yield* change({ accountId, apiKeyId: undefined }, patch, line)
      yield* change({ accountId, apiKeyId }, patch, line)
    })
  }
  return payers
}

async function run(payers: readonly Payer[], count: number): Promise<void> {
  let begun = 0
  const client = async () => {
    while (begun < count) {
      const { accountId, apiKeyId } = payers[begun % payers.length]!
      begun += 1
      const amount = nanoUsd(1_000_000n)
      const demand = { apiKeyId, model: 'gpt-x', tokens: 500, amount }
      const hold: TextHoldTerms = { id: anId(), accountId, kind: 'text', amount, demand }
      const placed = await holds.place(hold)
      if (placed.outcome !== 'held') throw new Error('A hold was refused.')
      const usage = { ...NO_USAGE, input: 300, output: 100 }
      await holds.capture(hold, aCharge(apiKeyId, { usage, cost: nanoUsd(400_000n) }))
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}
