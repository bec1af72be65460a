import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { httpRequest } from '../../http1/client/http-request.ts'
import { failureReason } from '../failure-reason.ts'
import { addressOf, type OwnHeaders, type SecretOf } from './target.ts'

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

/** The provider may still work, but no other check finds this mistake. */
const NO_LIST =
  'Responds, but has no list of models (status 404). If it should have one, base_url lacks part of its path, such as /v1.'

/**
 * Requests a provider's list of models, which costs nothing. Not every provider has such a list, so any response is
 * fine except one that refuses the key or reports a failure of the server. Never throws; ends within five seconds.
 */
export async function probeOpenAiCompatible(
  provider: Provider,
  { http, secretOf }: { readonly http: HttpClient; readonly secretOf: SecretOf },
  ownHeaders?: OwnHeaders,
): Promise<ProbeResult> {
  const address = addressOf(provider, '/models', secretOf, ownHeaders)
  if ('problem' in address) return { ok: false, detail: sentence(address.problem) }
  try {
    const response = await http.send(httpRequest({ method: 'GET', ...address }), {
      connectTimeoutMs: Math.min(provider.connectTimeoutMs, PROBE_TIMEOUT_MS),
      timeoutMs: PROBE_TIMEOUT_MS,
    })
    response.cancel()
    return judge(response.status)
  } catch (error) {
    return { ok: false, detail: `Does not respond (${failureReason(error)}).` }
  }
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
}

function judge(status: number): ProbeResult {
  if (status === 401 || status === 403) return { ok: false, detail: `Refuses its key (status ${status}).` }
  if (status === 404) return { ok: true, detail: NO_LIST }
  if (status >= 500) return { ok: false, detail: `Responds with status ${status}.` }
  return { ok: true, detail: `Responds (status ${status}).` }
}
