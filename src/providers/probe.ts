import type { Provider } from '../domain/catalog/provider.ts'
import type { HttpClient } from '../http1/client/http-client.ts'
import { httpRequest } from '../http1/client/http-request.ts'
import { failureReason } from './failure-reason.ts'
import { addressOf } from './openai-compatible/target.ts'

/** Long enough for a TLS handshake across the world, and short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

/** It may well work, but nothing else would point to this mistake. */
const NO_LIST =
  'Responds, but has no list of models (status 404). If it should have one, base_url lacks part of its path, such as /v1.'
const SANDBOX_ON = 'Runs inside the gateway.'
const SANDBOX_OFF = 'Is switched off by TOLLGATE_SANDBOX: its models are neither listed nor served.'

/** The result of a probe: a sentence for the operator, without secrets. */
export type Probed = { readonly ok: boolean; readonly detail: string }

/**
 * Requests a provider's list of models, which costs nothing, to learn whether the provider responds and accepts the
 * key. Not every provider has such a list, so any response is fine except one that refuses the key or reports a failure
 * of the server. Never throws; ends within five seconds.
 */
export function providerProbe(ports: {
  /** The key as it is sent; undefined where there is none, or its environment variable is not set. */
  readonly secretOf: (provider: Provider) => string | undefined
  readonly isSandboxOn: boolean
  readonly http: HttpClient
}): (provider: Provider) => Promise<Probed> {
  return async provider => {
    if (provider.kind === 'sandbox') return { ok: true, detail: ports.isSandboxOn ? SANDBOX_ON : SANDBOX_OFF }
    const address = addressOf(provider, '/models', ports.secretOf)
    if ('problem' in address) return { ok: false, detail: sentence(address.problem) }
    try {
      const response = await ports.http.send(httpRequest({ method: 'GET', ...address }), {
        connectTimeoutMs: Math.min(provider.connectTimeoutMs, PROBE_TIMEOUT_MS),
        timeoutMs: PROBE_TIMEOUT_MS,
      })
      response.cancel()
      return judge(response.status)
    } catch (error) {
      return { ok: false, detail: `Does not respond (${failureReason(error)}).` }
    }
  }
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
}

function judge(status: number): Probed {
  if (status === 401 || status === 403) return { ok: false, detail: `Refuses its key (status ${status}).` }
  if (status === 404) return { ok: true, detail: NO_LIST }
  if (status >= 500) return { ok: false, detail: `Responds with status ${status}.` }
  return { ok: true, detail: `Responds (status ${status}).` }
}
