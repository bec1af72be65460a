import type { TextRoute } from '../../domain/catalog/provider.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { ProviderOutcome, TextProvider } from '../../gateway/ports/text-provider.ts'
import { chatJson } from './chat-json.ts'
import { composeAnswer } from './compose-answer.ts'
import { embeddingsJson } from './embeddings.ts'
import { pause } from './pause.ts'
import { ChatRequest, EmbeddingsRequest, readRequest, type Problem, type SandboxOptions } from './wire.ts'

type Answer = { readonly json: (nowMs: number) => unknown; readonly options: SandboxOptions }

/**
 * The built-in provider: answers in the OpenAI dialect without any model, the same for the same request, with usage that
 * counts what it says; and, asked in a request's `sandbox` member, with any fault a real provider has.
 */
export function sandbox({ clock }: { readonly clock: Clock }): TextProvider {
  return {
    async complete(call, signal) {
      if (signal?.aborted === true) return { outcome: 'aborted' }
      const answer = answerTo[call.route](call.body)
      if ('problem' in answer) return badRequest(answer.problem)
      const { json, options } = answer
      const delayMs = options.fail === 'hang' ? Infinity : (options.delay_ms ?? 0)
      if (delayMs > 0 && !(await pause(clock, Math.min(delayMs, call.readTimeoutMs), signal))) {
        return { outcome: 'aborted' }
      }
      if (delayMs >= call.readTimeoutMs) return { outcome: 'timed_out' }
      return faultOf(options) ?? scripted(options) ?? whole(JSON.stringify(json(clock.now())), options)
    },
  }
}

const answerTo: Readonly<Record<TextRoute, (body: Uint8Array) => Answer | { readonly problem: Problem }>> = {
  chat(body) {
    const read = readRequest(ChatRequest, body)
    if ('problem' in read) return read
    const { request } = read
    return {
      json: nowMs => chatJson(composeAnswer(request), request.model, Math.floor(nowMs / 1000)),
      options: request.sandbox,
    }
  },
  embeddings(body) {
    const read = readRequest(EmbeddingsRequest, body)
    if ('problem' in read) return read
    return { json: () => embeddingsJson(read.request), options: read.request.sandbox }
  },
  responses: () => ({ problem: { message: 'The sandbox does not serve responses.', param: null } }),
}

/** The faults that end a call without an answer, or with one that is none. The others show elsewhere. */
function faultOf(options: SandboxOptions): ProviderOutcome | undefined {
  switch (options.fail) {
    case 'refused':
      return { outcome: 'unreachable', reason: 'ECONNREFUSED' }
    case 'reset':
    case 'cut':
      return { outcome: 'unreachable', reason: 'ECONNRESET' }
    case 'html':
      return whole('<html><body>Welcome to the sandbox</body></html>', options, 'text/html')
    case 'broken_json':
      return whole('{"id":"chatcmpl-sandbox","choices":[{"index":0,"mess', options)
    case 'hang':
    case 'empty':
    case undefined:
      break
  }
  return undefined
}

/** An answer of which the request gave the body, or the error. */
function scripted(options: SandboxOptions): ProviderOutcome | undefined {
  const { body, error, status = 200 } = options
  if (body !== undefined) return whole(body, options)
  if (error === undefined && status < 400) return undefined
  const given = {
    message: 'The sandbox was asked for this error.',
    type: 'sandbox_error',
    code: null,
    ...error,
  }
  return whole(JSON.stringify({ error: given }), { ...options, status: status < 400 ? 500 : status })
}

function badRequest({ message, param }: Problem): ProviderOutcome {
  const error = { message, type: 'invalid_request_error', param, code: 'sandbox_invalid_request' }
  return whole(JSON.stringify({ error }), { status: 400 })
}

function whole(body: string, options: SandboxOptions, contentType = 'application/json'): ProviderOutcome {
  const { status = 200, retry_after_s: retryAfterS, cost_usd: cost } = options
  return {
    outcome: 'answered',
    status,
    headers: {
      'content-type': contentType,
      ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
    },
    reportedCost: cost ?? null,
    body: new TextEncoder().encode(body),
  }
}
