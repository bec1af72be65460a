import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { readEnvelope, troubleOf } from './envelope.ts'
import { minimaxAddress, type MinimaxPorts } from './minimax.ts'

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000
const NO_CREDIT = '1008'

/** Asks for a job that does not exist, which costs nothing. Never throws; ends within five seconds. */
export async function probeMinimax(
  provider: Provider,
  { send, secretOf }: Omit<MinimaxPorts, 'clock'>,
): Promise<ProbeResult> {
  const address = minimaxAddress(provider, '/v1/query/video_generation', secretOf)
  if ('problem' in address) return { ok: false, detail: `It cannot be called: ${address.problem}.` }
  address.url.searchParams.set('task_id', '0')
  const reply = await send({ provider, method: 'GET', ...address, timeoutMs: PROBE_TIMEOUT_MS })
  if (reply.reply === 'none') return { ok: false, detail: `Does not respond (${reply.problem}).` }
  return judge(reply.status, readEnvelope(reply.body)?.code)
}

function judge(status: number, code: string | undefined): ProbeResult {
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (status === 401 || status === 403) return { ok: false, detail: `Refuses its key (${shown}).` }
  if (code === undefined || status === 404 || status >= 500)
    return { ok: false, detail: `Responds, but not like the MiniMax API (${shown}).` }
  if (code === NO_CREDIT) return { ok: false, detail: `Refuses the account (${shown}).` }
  if (troubleOf(code) === 'operator') return { ok: false, detail: `Refuses its key (${shown}).` }
  return { ok: true, detail: `Responds (${shown}).` }
}
