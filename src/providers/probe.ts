import type { Provider } from '../domain/catalog/provider.ts'
import { failureReason } from './failure-reason.ts'
import { addressOf, type Address } from './openai-compatible/target.ts'

/** Long enough for a TLS handshake across the world, short enough to wait for at a terminal. */
const PROBE_TIMEOUT_MS = 5000

/** Well either way, as far as can be seen; but nothing else would point to the mistake. */
const NO_LIST =
  'Answers, and has no list of models (status 404). If it should have one, base_url lacks a part of its path, such as /v1.'
const SANDBOX_ON = 'Runs inside the gateway.'
const SANDBOX_OFF = 'Is switched off by TOLLGATE_SANDBOX: its models are neither listed nor served.'

/** What a probe found, as a sentence for the operator without secrets. */
export type Probed = { readonly ok: boolean; readonly detail: string }

/**
 * Asks a provider for its list of models, which costs nothing: is it there, and does it take the key? Any answer but a
 * refusal of the key or a failure of its own counts as yes, since not every provider has such a list. Never throws; ends
 * within five seconds.
 */
export function providerProbe(ports: {
  /** The key as it is sent; undefined where there is none, or its environment variable is not set. */
  readonly secretOf: (provider: Provider) => string | undefined
  readonly isSandboxOn: boolean
}): (provider: Provider) => Promise<Probed> {
  return async provider => {
    if (provider.kind === 'sandbox') return { ok: true, detail: ports.isSandboxOn ? SANDBOX_ON : SANDBOX_OFF }
    const address = addressOf(provider, '/models', ports.secretOf)
    if ('problem' in address) return { ok: false, detail: sentence(address.problem) }
    try {
      return judge(await ask(address))
    } catch (error) {
      return { ok: false, detail: `Does not answer (${failureReason(error)}).` }
    }
  }
}

async function ask({ url, headers }: Address): Promise<number> {
  const response = await fetch(url, {
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  })
  await response.body?.cancel()
  return response.status
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
}

function judge(status: number): Probed {
  if (status === 401 || status === 403) return { ok: false, detail: `Refuses its key (status ${status}).` }
  if (status === 404) return { ok: true, detail: NO_LIST }
  if (status >= 500) return { ok: false, detail: `Answers with status ${status}.` }
  return { ok: true, detail: `Answers (status ${status}).` }
}
