import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { errorCodeOf, isOperatorCode } from './geminigen-error.ts'
import { geminigenAddress, type GeminigenPorts } from './geminigen.ts'

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

/** Requests the credit of the account, which costs nothing. Never throws; ends within five seconds. */
export async function probeGeminigen(
  provider: Provider,
  { send, secretOf }: GeminigenPorts,
): Promise<ProbeResult> {
  const address = geminigenAddress(provider, '/account', secretOf)
  if ('problem' in address) return { ok: false, detail: `It cannot be called: ${address.problem}.` }
  const reply = await send({ provider, method: 'GET', ...address, timeoutMs: PROBE_TIMEOUT_MS })
  return reply.reply === 'none' ? { ok: false, detail: `Does not respond (${reply.problem}).` } : judge(reply)
}

function judge({ status, body }: WholeAnswer): ProbeResult {
  const code = errorCodeOf(body)
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (status === 401 || status === 403 || isOperatorCode(code))
    return { ok: false, detail: `Refuses its key (${shown}).` }
  if (status === 429) return { ok: true, detail: `Responds (${shown}).` }
  const credit = findJsonObject(body)?.['user_credit']
  if (!isJsonObject(credit) || status !== 200)
    return { ok: false, detail: `Responds, but not like the GeminiGen API (${shown}).` }
  const { available_credit: available } = credit
  return typeof available === 'number' && available <= 0
    ? { ok: false, detail: 'Accepts its key, but its account has no credit.' }
    : { ok: true, detail: `Responds (${shown}).` }
}
