import { formatUsd, nanoUsd, usd } from '../../../src/domain/money.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'

/** An account with money and its key, both with limits and budgets, on a gateway that will be killed. */
export type Customer = { readonly accountId: string; readonly keyId: string; readonly key: string }

type KeyMade = { readonly id: string; readonly key: string }
type Limited = {
  readonly budget_usage: Readonly<
    Record<string, { readonly spent_usd: string; readonly reserved_usd: string }>
  >
}

/** The costs that clients were told until the gateway ended, by request id. Null if a complete answer named no cost. */
export type ReportedCosts = ReadonlyMap<string, string | null>

const ADMIN_KEY = 'tg_admin_kill_nine'
export const GRANT = '1000'
const PAGE = 500

export function startToKill(
  dataDir: string,
  environment: Record<string, string> = {},
): Promise<GatewayProcess> {
  return startGatewayProcess(dataDir, {
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_LOG_LEVEL: 'warn',
    ...environment,
  })
}

export async function makeCustomer(gateway: GatewayProcess): Promise<Customer> {
  const account = await admin<{ id: string }>(gateway, 'POST', 'accounts', { name: 'ada' })
  await admin(gateway, 'POST', `accounts/${account.id}/grants`, { amount_usd: GRANT })
  const { id: keyId, key } = await admin<KeyMade>(gateway, 'POST', `accounts/${account.id}/keys`, {})
  // More than the requests take, so that every limit counts and none refuses.
  const limits = {
    requests_per_minute: 10_000_000,
    tokens_per_minute: 1_000_000_000,
    concurrent_requests: 1000,
  }
  for (const path of [`accounts/${account.id}`, `keys/${keyId}`])
    await admin(gateway, 'PATCH', path, { limits, budgets: { month: GRANT, total: GRANT } })
  return { accountId: account.id, keyId, key }
}

/**
 * Checks that every reported cost is in the ledger, the ledger is sound, nothing is held, and the balance is the
 * granted amount minus the charges, which are also the sums of all budgets. Adds the charges of this round to
 * `charged`, which has those of all earlier rounds. Throws if a check fails.
 */
export async function checkReported(
  gateway: GatewayProcess,
  { accountId, keyId, key }: Customer,
  costs: ReportedCosts,
  charged: Map<string, string>,
): Promise<void> {
  for await (const { id, cost_usd } of newestCharges(gateway, key)) {
    if (charged.has(id)) break
    charged.set(id, cost_usd)
  }
  for (const [id, cost] of costs) {
    const inBooks = charged.get(id)
    if (inBooks === undefined || (cost !== null && inBooks !== cost))
      throw new Error(
        `${id}: the client was told ${cost ?? 'no cost'}, and the ledger has ${inBooks ?? 'no charge'}.`,
      )
  }
  const { ok, problems } = await admin<{ ok: boolean; problems: unknown[] }>(gateway, 'POST', 'verify')
  if (!ok) throw new Error(`The ledger is not sound: ${JSON.stringify(problems)}`)
  const account = await admin<{ available_usd: string; held_usd: string } & Limited>(
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
  for (const { budget_usage } of [account, await admin<Limited>(gateway, 'GET', `keys/${keyId}`)])
    for (const [period, { spent_usd, reserved_usd }] of Object.entries(budget_usage))
      if (spent_usd !== formatUsd(nanoUsd(spent)) || reserved_usd !== '0')
        throw new Error(
          `The budget of a ${period} has spent ${spent_usd} USD of ${formatUsd(nanoUsd(spent))}.`,
        )
}

async function* newestCharges(
  gateway: GatewayProcess,
  key: string,
): AsyncGenerator<{ id: string; cost_usd: string }> {
  for (let next = ''; ;) {
    const response = await fetch(`${gateway.url}/v1/usage?limit=${PAGE}${next}`, {
      headers: { 'x-api-key': key },
    })
    const page = (await response.json()) as {
      data: { id: string; cost_usd: string }[]
      next: string | null
    }
    yield* page.data
    if (page.next === null) return
    next = `&cursor=${page.next}`
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
