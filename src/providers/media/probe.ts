import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import type { Address } from '../http/address.ts'
import type { MediaAnswer, SendMedia } from './media-http.ts'

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

type Probing = {
  readonly send: SendMedia
  /** Says by an answer whether the provider can be used. */
  readonly judge: (answer: MediaAnswer) => ProbeResult
  /** Parameters of the request. */
  readonly query?: Readonly<Record<string, string>>
}

/** Sends a GET that costs nothing, and judges the answer. Never throws; ends within five seconds. */
export async function probeAt(
  address: Address | { readonly problem: string },
  provider: Provider,
  { send, judge, query = {} }: Probing,
): Promise<ProbeResult> {
  if ('problem' in address) return { ok: false, detail: `It cannot be called: ${address.problem}.` }
  const { headers } = address
  const url = new URL(address.url)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const reply = await send({ provider, method: 'GET', url, headers, timeoutMs: PROBE_TIMEOUT_MS })
  return reply.reply === 'none' ? { ok: false, detail: `Does not respond (${reply.problem}).` } : judge(reply)
}

/**
 * A probe that is judged by the status alone. `missing` says what a 404 means: `ok` if the request asks for something
 * that does not exist.
 */
export function probeWith(
  address: Address | { readonly problem: string },
  provider: Provider,
  send: SendMedia,
  { missing = 'wrong' }: { readonly missing?: 'ok' | 'wrong' } = {},
): Promise<ProbeResult> {
  const judge = ({ status }: MediaAnswer): ProbeResult => {
    if (status === 401 || status === 402 || status === 403)
      return { ok: false, detail: `Refuses its key or its account (status ${status}).` }
    if (status === 404 && missing === 'wrong')
      return { ok: false, detail: 'Responds, but not like an API of this kind (status 404).' }
    const isError = status >= 500 || (status >= 300 && status < 400)
    return isError
      ? { ok: false, detail: `Responds with status ${status}.` }
      : { ok: true, detail: `Responds (status ${status}).` }
  }
  return probeAt(address, provider, { send, judge })
}
