import type { Clock } from '../../gateway/ports/clock.ts'
import type { ProviderCall, ProviderOutcome, TextProvider } from '../../gateway/ports/text-provider.ts'
import { readHead } from './answer-head.ts'
import { cutoff, type Cutoff } from './cutoff.ts'
import { bodyProblem, readAnswer, TOO_LARGE } from './read-answer.ts'
import { targets, type SecretOf, type Target } from './target.ts'

export type OpenAiCompatiblePorts = { readonly clock: Clock; readonly secretOf: SecretOf }

/**
 * Any server that speaks OpenAI's HTTP dialect. The request's bytes go up as they are, with headers from the provider's
 * row alone; the answer's come down as they are.
 */
export function openAiCompatible({ clock, secretOf }: OpenAiCompatiblePorts): TextProvider {
  const targetOf = targets(secretOf)

  return {
    async complete(call, signal) {
      if (signal?.aborted === true) return { outcome: 'aborted' }
      const target = targetOf(call.provider)
      if ('problem' in target) return { outcome: 'unreachable', reason: target.problem }
      const limits = cutoff(clock, call.readTimeoutMs, signal)
      try {
        return await exchange(call, target, limits)
      } catch (error) {
        const outcome = limits.cause()
        return outcome === undefined ? { outcome: 'unreachable', reason: reasonOf(error) } : { outcome }
      } finally {
        limits.lift()
      }
    },
  }
}

async function exchange(call: ProviderCall, target: Target, limits: Cutoff): Promise<ProviderOutcome> {
  const response = await send(call, target, limits)
  const head = readHead(response.headers, call.provider.costHeader)
  const problem = bodyProblem(head)
  const body = problem === undefined ? await readAnswer(response, head) : undefined
  if (body === undefined) {
    // The rest is not worth reading, and the connection is lost with it.
    limits.cut('aborted')
    return { outcome: 'unreachable', reason: problem ?? TOO_LARGE }
  }
  return {
    outcome: 'answered',
    status: response.status,
    headers: head.headers,
    reportedCost: head.reportedCost,
    body,
  }
}

function send(call: ProviderCall, target: Target, limits: Cutoff): Promise<Response> {
  return fetch(target.urls[call.route], {
    method: 'POST',
    headers: target.headers,
    body: call.body,
    // A redirect is an answer like any other: followed, it would carry the key and the request to somebody else.
    redirect: 'manual',
    signal: limits.signal,
    // Off: Bun's own idle limit of five minutes, which a longer limit of ours would never reach.
    timeout: false,
  })
}

/** The network's or the runtime's code for it, such as `ECONNREFUSED`; never a message, which may name host or key. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
