import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import type { SendWhole } from '../media/send-whole.ts'
import type { SecretOf } from '../openai-compatible/target.ts'
import { falAddress } from './fal.ts'
import { pathOf } from './wire.ts'

export type ProbeFalPorts = { readonly send: SendWhole; readonly secretOf: SecretOf }

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000
/** No request has this id. */
const NO_REQUEST = { app: 'fal-ai/flux', requestId: '00000000-0000-0000-0000-000000000000' }

/**
 * Asks for a request that does not exist, which costs nothing. A right key gets an answer about the request. Never
 * throws; ends within five seconds.
 */
export async function probeFal(provider: Provider, { send, secretOf }: ProbeFalPorts): Promise<ProbeResult> {
  const address = falAddress(provider, `${pathOf(NO_REQUEST)}/status`, secretOf)
  if ('problem' in address) return { ok: false, detail: `It cannot be called: ${address.problem}.` }
  const reply = await send({ ...address, provider, method: 'GET', timeoutMs: PROBE_TIMEOUT_MS })
  if (reply.reply === 'none') return { ok: false, detail: `Does not respond (${reply.problem}).` }
  return judge(reply.status)
}

function judge(status: number): ProbeResult {
  if (status === 401 || status === 403)
    return { ok: false, detail: `Refuses its key or its account (status ${status}).` }
  if (status >= 500 || (status >= 300 && status < 400))
    return { ok: false, detail: `Responds with status ${status}.` }
  return { ok: true, detail: `Responds (status ${status}).` }
}
