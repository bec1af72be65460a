import type { Provider, TextRoute } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import type { TextProvider } from '../../gateway/ports/providers/text-provider.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { httpRequest, type HttpRequest } from '../../http1/client/http-request.ts'
import { addressOf, baseAddress, urlUnder, type OwnHeaders, type SecretOf } from '../http/address.ts'
import { failureReason } from '../http/failure-reason.ts'
import { textOverHttp, type HttpPorts } from '../http/text-over-http.ts'

export type OpenAiCompatiblePorts = HttpPorts & { readonly secretOf: SecretOf }

/**
 * Any server that speaks OpenAI's HTTP dialect. The request's text is sent unchanged, and its headers come only from
 * the provider's row. The answer is returned unchanged.
 */
export function openAiCompatible(ports: OpenAiCompatiblePorts): TextProvider {
  const targetOf = targets(ports.secretOf)
  return textOverHttp(ports, ({ provider, route }) => {
    const target = targetOf(provider)
    return 'problem' in target ? target : target[route]
  })
}

/** The requests to a provider without their bodies. */
type Target = Readonly<Record<TextRoute, HttpRequest>>

/** A target, or why the provider cannot be called: a sentence for the operator, without the key. */
type TargetOutcome = Target | { readonly problem: string }

const pathOf: Readonly<Record<TextRoute, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  messages: '/messages',
}

/**
 * Finds the target of a provider. A target is made once for each provider value, because the catalog makes a new value
 * with each edit. A problem is checked again each time.
 */
function targets(secretOf: SecretOf): (provider: Provider) => TargetOutcome {
  const known = new WeakMap<Provider, Target>()
  return provider => {
    const found = known.get(provider)
    if (found !== undefined) return found
    const made = makeTarget(provider, secretOf)
    if (!('problem' in made)) known.set(provider, made)
    return made
  }
}

function makeTarget(provider: Provider, secretOf: SecretOf): TargetOutcome {
  const base = baseAddress(provider, secretOf)
  if ('problem' in base) return base
  const request = (path: string) =>
    httpRequest({
      method: 'POST',
      url: urlUnder(base.url, path),
      headers: base.headers,
      reuseConnection: provider.reusesConnections,
    })
  return {
    chat: request(pathOf.chat),
    responses: request(pathOf.responses),
    embeddings: request(pathOf.embeddings),
    messages: request(pathOf.messages),
  }
}

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
