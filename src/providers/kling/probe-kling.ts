import type { Provider } from '../../domain/catalog/provider.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { SendWhole } from '../media/send-whole.ts'
import type { SecretOf } from '../http/address.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { isTokenRefused, readEnvelope, troubleOf } from './envelope.ts'
import { klingTarget } from './kling-target.ts'
import { klingTokens } from './kling-token.ts'

export type ProbeKlingPorts = { readonly send: SendWhole; readonly clock: Clock; readonly secretOf: SecretOf }

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

/** Requests a page of one job, which costs nothing. Never throws; ends within five seconds. */
export async function probeKling(
  provider: Provider,
  { send, clock, secretOf }: ProbeKlingPorts,
): Promise<ProbeResult> {
  const target = klingTarget(provider, 'text2video', { tokens: klingTokens(clock), secretOf })
  if ('problem' in target) return { ok: false, detail: `It cannot be called: ${target.problem}.` }
  const { url, headers } = target
  url.search = '?pageNum=1&pageSize=1'
  const reply = await send({ provider, method: 'GET', url, headers, timeoutMs: PROBE_TIMEOUT_MS })
  if (reply.reply === 'none') return { ok: false, detail: `Does not respond (${reply.problem}).` }
  return judge(reply.status, readEnvelope(reply.body)?.code)
}

function judge(status: number, code: number | undefined): ProbeResult {
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (code === undefined || status === 404 || status >= 500)
    return { ok: false, detail: `Responds, but not like the Kling API (${shown}).` }
  if (isTokenRefused(code)) return { ok: false, detail: `Refuses its keys (${shown}).` }
  if (troubleOf(code) === 'operator') return { ok: false, detail: `Refuses the account (${shown}).` }
  return { ok: true, detail: `Responds (${shown}).` }
}
