/**
 * A node of `npm run bench -- nodes`: places holds and charges them through the ports of the PostgreSQL store. It reads
 * lines of JSON with the payers and the time, and answers each with what it did.
 */
import { createInterface } from 'node:readline'
import { systemClock } from '../../src/app/system-clock.ts'
import { nanoUsd } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import { connections } from '../../src/stores/postgres/database/database.ts'
import { openNode } from '../../src/stores/postgres/node.ts'
import { aCharge } from '../../test/support/ledger-builders.ts'

export type Payer = { readonly accountId: number; readonly apiKeyId: number }

export type NodeRun = {
  readonly payers: readonly Payer[]
  /** The share of requests that the first payer makes, in percent. The others share the rest evenly. */
  readonly hotPercent: number
  readonly ms: number
}

export type NodeFigures = { readonly pairs: number; readonly ms: number; readonly cpuUs: number }

const CLIENTS = 256
const AMOUNT = nanoUsd(1_000_000n)
const COST = nanoUsd(400_000n)

if (import.meta.main) await serve(process.argv[2]!, process.argv[3]!)

async function serve(url: string, name: string): Promise<void> {
  const node = await openNode({
    name,
    version: '0',
    connections: connections({ url }),
    clock: systemClock,
    random64: () => crypto.getRandomValues(new BigInt64Array(1))[0]!,
    secretKey: new Uint8Array(32),
  })
  console.log('ready')
  for await (const line of createInterface(process.stdin))
    console.log(JSON.stringify(await measure(JSON.parse(line) as NodeRun, node)))
  await node.close()
}

async function measure(
  { payers, hotPercent, ms }: NodeRun,
  { ledger, newId }: Awaited<ReturnType<typeof openNode>>,
): Promise<NodeFigures> {
  const startedAtMs = performance.now()
  const endsAtMs = startedAtMs + ms
  const cpu = process.cpuUsage()
  let pairs = 0
  let turn = 0
  const client = async () => {
    while (performance.now() < endsAtMs) {
      turn += 1
      const { accountId, apiKeyId } = payers[turn % 100 < hotPercent ? 0 : turn % payers.length]!
      const demand = { apiKeyId, model: 'gpt-x', tokens: 500, amount: AMOUNT }
      const terms = {
        id: newId(),
        accountId,
        kind: 'text',
        amount: AMOUNT,
        demand,
        atMs: Date.now(),
      } as const
      const placed = await ledger.placeHold(terms)
      if (placed.outcome !== 'held') throw new Error('A hold was refused.')
      const usage = { ...NO_USAGE, input: 300, output: 100 }
      await ledger.captureHold(placed.hold, aCharge(apiKeyId, { usage, cost: COST, atMs: Date.now() }))
      pairs += 1
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  const { user, system } = process.cpuUsage(cpu)
  return { pairs, ms: performance.now() - startedAtMs, cpuUs: user + system }
}
