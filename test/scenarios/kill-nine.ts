import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatUsd, nanoUsd, usd } from '../../src/domain/money.ts'
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts'

export type KillReport = { readonly rounds: number; readonly told: number; readonly charged: number }

const ADMIN_KEY = 'tg_admin_kill_nine'
const GRANT = '1000'
const CALLERS = 16
const LOAD_MS_MAX = 250
const PAGE = 500

/**
 * Starts the gateway over one data folder, loads it, kills it with SIGKILL at a random moment and starts it again, `rounds`
 * times. After each kill every cost a client was told must be in the books once, the books must verify, and the
 * balance must be what was granted less what was charged. Throws at the first round where one is not so.
 */
export async function killNine(
  rounds: number,
  tell: (line: string) => void = () => undefined,
): Promise<KillReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-kill-'))
  const charged = new Map<string, string>()
  let told = 0
  let gateway = await start(dataDir)
  try {
    const { accountId, key } = await makeAccount(gateway)
    for (let round = 1; round <= rounds; round += 1) {
      const costs = await loadUntilKilled(gateway, key, round)
      told += costs.size
      gateway = await start(dataDir)
      await checkBooks(gateway, { accountId, key, costs, charged })
      if (round % 25 === 0) tell(`round ${round}: ${told} costs told, ${charged.size} charged, books sound`)
    }
    return { rounds, told, charged: charged.size }
  } finally {
    await gateway.kill()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function start(dataDir: string): Promise<GatewayProcess> {
  return startGatewayProcess(dataDir, { TOLLGATE_ADMIN_KEY: ADMIN_KEY, TOLLGATE_LOG_LEVEL: 'warn' })
}

async function makeAccount(gateway: GatewayProcess): Promise<{ accountId: string; key: string }> {
  const account = await admin<{ id: string }>(gateway, 'POST', 'accounts', { name: 'ada' })
  await admin(gateway, 'POST', `accounts/${account.id}/grants`, { amount_usd: GRANT })
  const { key } = await admin<{ key: string }>(gateway, 'POST', `accounts/${account.id}/keys`, {})
  return { accountId: account.id, key }
}

/** The costs that clients were told, by request id, until the process was gone. */
async function loadUntilKilled(
  gateway: GatewayProcess,
  key: string,
  round: number,
): Promise<Map<string, string>> {
  const costs = new Map<string, string>()
  const caller = async (number: number) => {
    for (let turn = 0; ; turn += 1) {
      const response = await ask(gateway, key, `round ${round}, caller ${number}, turn ${turn}`).catch(
        () => undefined,
      )
      // The connection broke: the process is gone, and this answer was never whole.
      if (response === undefined) return
      const { id, cost } = costOf(response)
      costs.set(id, cost)
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, number) => caller(number))
  await Bun.sleep(Math.random() * LOAD_MS_MAX)
  await gateway.kill()
  await Promise.all(callers)
  return costs
}

/** Resolves when the whole answer is here. */
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

type Books = {
  readonly accountId: string
  readonly key: string
  readonly costs: ReadonlyMap<string, string>
  /** Every charge of the rounds before; this round's are added. */
  readonly charged: Map<string, string>
}

async function checkBooks(gateway: GatewayProcess, { accountId, key, costs, charged }: Books): Promise<void> {
  for await (const { id, cost_usd } of newestCharges(gateway, key)) {
    if (charged.has(id)) break
    charged.set(id, cost_usd)
  }
  for (const [id, cost] of costs) {
    const inBooks = charged.get(id)
    if (inBooks !== cost) throw new Error(`${id} was told ${cost} and the books say ${inBooks ?? 'nothing'}.`)
  }
  const { ok, problems } = await admin<{ ok: boolean; problems: unknown[] }>(gateway, 'POST', 'verify')
  if (!ok) throw new Error(`The books do not verify: ${JSON.stringify(problems)}`)
  const account = await admin<{ available_usd: string; held_usd: string }>(
    gateway,
    'GET',
    `accounts/${accountId}`,
  )
  let spent = 0n
  for (const cost of charged.values()) spent += usd(cost)
  const expected = formatUsd(nanoUsd(usd(GRANT) - spent))
  if (account.available_usd !== expected || account.held_usd !== '0') {
    throw new Error(`The balance is ${JSON.stringify(account)}; ${expected} and nothing held was expected.`)
  }
}

async function* newestCharges(
  gateway: GatewayProcess,
  key: string,
): AsyncGenerator<{ id: string; cost_usd: string }> {
  for (let after = ''; ;) {
    const response = await fetch(`${gateway.url}/v1/usage?limit=${PAGE}${after}`, {
      headers: { 'x-api-key': key },
    })
    const page = (await response.json()) as {
      data: { id: string; cost_usd: string }[]
      has_more: boolean
      last_id: string
    }
    yield* page.data
    if (!page.has_more) return
    after = `&after=${page.last_id}`
  }
}

async function admin<Answer>(
  gateway: GatewayProcess,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 500)
  console.log(JSON.stringify(await killNine(rounds, line => console.log(line))))
}
