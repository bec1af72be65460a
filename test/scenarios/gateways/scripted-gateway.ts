import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'

/** A gateway with a scripted upstream and a fake clock. `stop` throws if its books are not sound. */
export type ScriptedGateway = TestGateway & {
  readonly upstream: Upstream
  readonly clock: FakeClock
  /** Stops at once, also while a request runs. */
  readonly stopUnverified: () => Promise<void>
  /** Sends a GET with this key and returns the JSON. */
  read<Answer>(key: string, path: string): Promise<Answer>
  /** The value of one series of `/metrics`, or 0 if it is absent. */
  metric(series: string): Promise<number>
}

export type UsageRow = {
  readonly id: string
  readonly model: string
  readonly usage: Readonly<Record<string, number>>
  readonly cost_usd: string
  readonly source: string
  readonly is_clamped: boolean
}

/** The key that the gateway sends to the upstream. It does not look like a key. No client may ever see it. */
export const UPSTREAM_KEY = 'scripted-upstream-secret'

export const ADMIN_KEY = 'tg_admin_for_tests'

/** 1 USD per request, so a balance for ten requests is 10 USD. */
export const DOLLAR_A_REQUEST = { input_per_mtok: '0', output_per_mtok: '0', per_request: '1' }

/** A chat model on the scripted upstream. Default prices per million tokens: 2 USD (input) and 10 USD (output). */
export function chatModel(id: string, change: Readonly<Record<string, unknown>> = {}): object {
  return {
    id,
    kind: 'chat',
    upstreams: [{ provider: 'main', model: `${id}-upstream` }],
    pricing: { input_per_mtok: '2', output_per_mtok: '10' },
    max_output_tokens: 1000,
    context_window: 100_000,
    ...change,
  }
}

export async function startScriptedGateway(
  options: {
    readonly models?: readonly object[]
    /** Members of the upstream's provider row, or additional rows. */
    readonly provider?: Readonly<Record<string, unknown>>
    readonly providers?: (baseUrl: string) => readonly object[]
    readonly environment?: Record<string, string>
  } = {},
): Promise<ScriptedGateway> {
  const upstream = startUpstream()
  const clock = fakeClock()
  const main = {
    id: 'main',
    kind: 'openai-compatible',
    base_url: upstream.baseUrl,
    api_key: UPSTREAM_KEY,
    // So that a failure is one request. A retry would wait for the clock.
    retries: 0,
    ...options.provider,
  }
  const catalog = {
    providers: [main, ...(options.providers?.(upstream.baseUrl) ?? [])],
    models: options.models ?? [chatModel('gpt-x')],
  }
  const gateway = await startTestGateway({
    catalog: JSON.stringify(catalog),
    overrides: { clock },
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  })
  const stopUnverified = async () => {
    await gateway.stop()
    upstream.close()
  }
  return {
    ...gateway,
    upstream,
    clock,
    read: async <Answer>(key: string, path: string) => {
      const response = await fetch(gateway.url + path, { headers: { 'x-api-key': key } })
      if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as Answer
    },
    metric: async series => {
      const response = await fetch(`${gateway.url}/metrics`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      })
      const line = (await response.text()).split('\n').find(text => text.startsWith(`${series} `))
      return line === undefined ? 0 : Number(line.slice(series.length + 1))
    },
    stopUnverified,
    stop: async () => {
      const { ok, problems } = await gateway.admin<{ ok: boolean; problems: unknown[] }>('POST', 'verify')
      await stopUnverified()
      if (!ok) throw new Error(`The books are not sound: ${JSON.stringify(problems)}.`)
    },
  }
}

/** Asserts that nothing of an account is held. The books of all accounts are verified when the gateway stops. */
export async function expectNothingHeld(
  gateway: ScriptedGateway,
  account: { readonly id: string },
): Promise<void> {
  const { held_usd } = await gateway.admin<{ held_usd: string }>('GET', `accounts/${account.id}`)
  if (held_usd !== '0') throw new Error(`${held_usd} USD are held.`)
}
