import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { checkReported, makeCustomer, startToKill } from './reported-costs.ts'

export type KillReport = { readonly rounds: number; readonly reported: number; readonly charged: number }

const CALLERS = 16
const LOAD_MS_MAX = 250

/**
 * Starts the gateway on one data folder, sends requests, kills it with SIGKILL at a random moment and starts it again,
 * `rounds` times. In every other round, beginning with the first, a client was told a cost before that moment begins,
 * however slow this machine is. After each kill, every cost that a client was told must be in the ledger once, the
 * ledger must be sound, and the balance must be the granted amount minus the charges. Throws in the first round in
 * which this is wrong.
 */
export async function killNine(
  rounds: number,
  logProgress: (line: string) => void = () => undefined,
): Promise<KillReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-kill-'))
  const charged = new Map<string, string>()
  let reported = 0
  let gateway = await startToKill(dataDir)
  try {
    const customer = await makeCustomer(gateway)
    for (let round = 1; round <= rounds; round += 1) {
      const costs = await loadUntilKilled(gateway, customer.key, round)
      reported += costs.size
      gateway = await startToKill(dataDir)
      await checkReported(gateway, customer, costs, charged)
      if (round % 25 === 0)
        logProgress(`round ${round}: ${reported} costs reported, ${charged.size} charged, ledger sound`)
    }
    return { rounds, reported, charged: charged.size }
  } finally {
    await gateway.kill()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The costs that clients were told, by request id, until the process ended. */
async function loadUntilKilled(
  gateway: GatewayProcess,
  key: string,
  round: number,
): Promise<Map<string, string>> {
  const costs = new Map<string, string>()
  const first = Promise.withResolvers<void>()
  const caller = async (number: number) => {
    for (let turn = 0; ; turn += 1) {
      const response = await ask(gateway, key, `round ${round}, caller ${number}, turn ${turn}`).catch(
        () => undefined,
      )
      // The connection broke. The process has ended, and this answer was never complete.
      if (response === undefined) return
      const { id, cost } = costOf(response)
      costs.set(id, cost)
      first.resolve()
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, number) => caller(number))
  // The callers end only by an error.
  if (round % 2 === 1) await Promise.race([first.promise, Promise.all(callers)])
  await Bun.sleep(Math.random() * LOAD_MS_MAX)
  await gateway.kill()
  await Promise.all(callers)
  return costs
}

/** Resolves with the whole answer. */
async function ask(gateway: GatewayProcess, key: string, content: string): Promise<Response> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', max_tokens: 50, messages: [{ role: 'user', content }] }),
  })
  await response.arrayBuffer()
  return response
}

function costOf({ status, headers }: Response): { id: string; cost: string } {
  const id = headers.get('x-request-id')
  const cost = headers.get('x-service-cost-usd')
  if (status !== 200 || id === null || cost === null)
    throw new Error(`${id ?? 'An answer'} has status ${status} and no cost.`)
  return { id, cost }
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 500)
  console.log(JSON.stringify(await killNine(rounds, line => console.log(line))))
}
