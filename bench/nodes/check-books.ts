/**
 * Measures a check of all books in PostgreSQL, and one of the rows that were written since, in the same run:
 *
 *     sh scripts/bun.sh all bench/nodes/check-books.ts [CHARGES [NEW]]
 *
 * The charges are of the last thirty days, a hundred accounts and two nodes. The new ones are of the last day, so the
 * check of recent rows also reads the other charges of that day. Compare the ratio: other work slows both.
 */
import { anAccount, aCharge, hold } from '../../test/support/ledger-builders.ts'
import { aDatabase } from '../../test/support/postgres/databases.ts'
import { PostgresServer } from '../../test/support/postgres/server.ts'
import { aNode } from '../../test/support/postgres/a-node.ts'
import { usd } from '../../src/domain/money.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { median } from '../statistics.ts'

const charges = Number(process.argv[2] ?? 300_000)
const fresh = Number(process.argv[3] ?? 1000)
const ACCOUNTS = 100
const CLIENTS = 256
const DAYS = 30
const DAY_MS = 86_400_000
const ROUNDS = 3

type Node = Awaited<ReturnType<typeof aNode>>
type Payer = { readonly accountId: number; readonly apiKeyId: number }

const server = await PostgresServer.start(18, 'memory')
const url = await aDatabase(server)
const nodes = [await aNode(url, 'one', systemClock), await aNode(url, 'two', systemClock)] as const
const endMs = systemClock.now()

try {
  const payers: Payer[] = []
  while (payers.length < ACCOUNTS) payers.push(await anAccount(nodes[0], { funds: usd('1000000') }))
  await charge(payers, charges, index => endMs - Math.floor(((charges - index) * DAYS * DAY_MS) / charges))
  const rounds: { readonly all: number; readonly recent: number; readonly ratio: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const all = await timed(() => nodes[0].ledger.verify())
    await charge(payers, fresh, () => endMs)
    const recent = await timed(() => nodes[0].ledger.verifyRecent())
    rounds.push({ all, recent, ratio: all / recent })
  }
  const of = (name: 'all' | 'recent' | 'ratio') => median(rounds.map(round => round[name]))
  console.log(
    `${charges} charges: ${(of('all') / 1000).toFixed(1)} s for all rows, ${(of('recent') / 1000).toFixed(2)} s after ${fresh} new charges, ${of('ratio').toFixed(0)} times less`,
  )
} finally {
  for (const node of nodes) await node.close()
  await server.crash()
}

async function charge(payers: readonly Payer[], count: number, atMs: (index: number) => number) {
  let next = 0
  const client = async (node: Node) => {
    while (next < count) {
      const index = next
      next += 1
      const { accountId, apiKeyId } = payers[index % payers.length]!
      const held = await hold(node.ledger, { accountId, kind: 'text', amount: usd('2') })
      await node.ledger.captureHold(held, aCharge(apiKeyId, { atMs: atMs(index) }))
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(nodes[index % 2]!)))
}

async function timed(check: () => Promise<{ readonly problems: readonly unknown[] }>): Promise<number> {
  const startedMs = performance.now()
  const { problems } = await check()
  if (problems.length > 0) throw new Error(`The books are wrong: ${JSON.stringify(problems)}`)
  return performance.now() - startedMs
}
