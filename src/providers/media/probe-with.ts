import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import type { Address } from '../http/address.ts'
import type { SendWhole } from './send-whole.ts'

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

/**
 * Sends a GET that costs nothing. Never throws; ends within five seconds. `missing` says what a 404 means: `ok` if the
 * request asks for something that does not exist.
 */
export async function probeWith(
  address: Address | { readonly problem: string },
  provider: Provider,
  send: SendWhole,
  { missing = 'wrong' }: { readonly missing?: 'ok' | 'wrong' } = {},
): Promise<ProbeResult> {
  if ('problem' in address) return { ok: false, detail: `It cannot be called: ${address.problem}.` }
  const reply = await send({ ...address, provider, method: 'GET', timeoutMs: PROBE_TIMEOUT_MS })
  if (reply.reply === 'none') return { ok: false, detail: `Does not respond (${reply.problem}).` }
  const { status } = reply
  if (status === 401 || status === 402 || status === 403)
    return { ok: false, detail: `Refuses its key or its account (status ${status}).` }
  if (status === 404 && missing === 'wrong')
    return { ok: false, detail: 'Responds, but not like an API of this kind (status 404).' }
  const isError = status >= 500 || (status >= 300 && status < 400)
  return isError
    ? { ok: false, detail: `Responds with status ${status}.` }
    : { ok: true, detail: `Responds (status ${status}).` }
}
