import { adminPath, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'

/** Lists all providers, without their keys. */
export async function listProviders(ask: Ask): Promise<Outcome> {
  type ProviderRow = {
    readonly id: string
    readonly kind: string
    readonly base_url?: string
    readonly api_key?: string
  }
  const listed = await ask<{ readonly data: readonly ProviderRow[] }>({ method: 'GET', path: 'providers' })
  const rows = listed.data.map(({ id, kind, base_url, api_key }) => [
    id,
    kind,
    api_key ?? '–',
    base_url ?? '–',
  ])
  return {
    value: listed,
    text: rows.length === 0 ? 'No providers.' : table(['PROVIDER', 'KIND', 'KEY', 'BASE URL'], rows),
  }
}

/** A provider can take this long to refuse a connection. */
const TEST_TIMEOUT_MS = 120_000

/** Asks a provider whether it responds and accepts its key. Exits with 1 if it does not. */
export async function testProvider(ask: Ask, id: string): Promise<Outcome> {
  const tested = await ask<{
    readonly provider: string
    readonly ok: boolean
    readonly detail: string
    readonly duration_ms: number
  }>({ method: 'POST', path: adminPath('providers', id, 'test'), json: {}, timeoutMs: TEST_TIMEOUT_MS })
  const { provider, ok, detail, duration_ms: durationMs } = tested
  return {
    value: tested,
    text: `${provider} ${ok ? 'works' : 'FAILED'} (${durationMs} ms): ${detail}`,
    exitCode: ok ? 0 : 1,
  }
}

/** Lists the circuit breakers and the last failure of each provider. */
export async function listProviderStates(ask: Ask): Promise<Outcome> {
  type State = {
    readonly provider: string
    readonly state: string
    readonly circuits: readonly { readonly model: string; readonly state: string }[]
    readonly recent_failures: readonly {
      readonly model: string
      readonly reason: string | null
      readonly at: string
    }[]
  }
  const states = await ask<{ readonly data: readonly State[] }>({ method: 'GET', path: 'provider-states' })
  const rows = states.data.map(({ provider, state, circuits, recent_failures: failures }) => {
    const [last] = failures
    const open = circuits.filter(circuit => circuit.state !== 'closed').map(({ model }) => model)
    return [
      provider,
      state,
      open.length === 0 ? '–' : open.join(', '),
      last === undefined ? '–' : `${last.at} ${last.model}: ${last.reason ?? 'unknown'}`,
    ]
  })
  const head = ['PROVIDER', 'STATE', 'OPEN CIRCUITS', 'LAST FAILURE']
  return { value: states, text: rows.length === 0 ? 'No providers.' : table(head, rows) }
}
