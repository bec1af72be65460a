import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { findJsonObject } from '../../protocol/json/parse-json.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { addressOf } from '../http/address.ts'
import { isOperatorError, readArkError } from './ark-error.ts'
import { TASKS, type SeedancePorts } from './seedance.ts'

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

/** Requests a page of one task, which costs nothing. Never throws; ends within five seconds. */
export async function probeSeedance(
  provider: Provider,
  { send, secretOf }: SeedancePorts,
): Promise<ProbeResult> {
  const address = addressOf(provider, TASKS, secretOf)
  if ('problem' in address) return { ok: false, detail: `It cannot be called: ${address.problem}.` }
  address.url.searchParams.set('page_num', '1')
  address.url.searchParams.set('page_size', '1')
  const reply = await send({ provider, method: 'GET', ...address, timeoutMs: PROBE_TIMEOUT_MS })
  return reply.reply === 'none' ? { ok: false, detail: `Does not respond (${reply.problem}).` } : judge(reply)
}

function judge({ status, body }: WholeAnswer): ProbeResult {
  const error = readArkError(body)
  const shown = error?.code === undefined ? `status ${status}` : `status ${status}, code ${error.code}`
  if (status === 401) return { ok: false, detail: `Refuses its key (${shown}).` }
  if (status === 403 || isOperatorError(error))
    return { ok: false, detail: `Refuses the account (${shown}).` }
  const isApi = error !== undefined || Array.isArray(findJsonObject(body)?.['items'])
  if (!isApi || status === 404 || status >= 500)
    return { ok: false, detail: `Responds, but not like the Ark API (${shown}).` }
  return { ok: true, detail: `Responds (${shown}).` }
}
