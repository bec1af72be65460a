import type { OpenAiRoute } from '../../domain/catalog/provider.ts'
import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import { pause, type Clock } from '../../gateway/ports/clock.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import type { LateCall, ProviderOutcome, TextProvider } from '../../gateway/ports/providers/text-provider.ts'
import { readRetryAfter } from '../http/read-answer.ts'
import { chatFrames, chatJson } from './chat-replies.ts'
import { chatRequest } from './chat-request.ts'
import { composeAnswer } from './compose-answer.ts'
import { embeddingsJson, embeddingsRequest } from './embeddings.ts'
import { responseErrorEvent, responseEvents } from './response-events.ts'
import { composeResponse } from './response-object.ts'
import { responsesRequest } from './responses-request.ts'
import { scriptedStream, streamScript, type WholeStream } from './stream-script.ts'
import { readRequest, sandboxError, type SandboxProblem, type SandboxOptions } from './wire.ts'

/** The time between two frames of a stream: about the pace of a fast model. */
const PACE_MS = 15

/**
 * The built-in provider. It answers in the OpenAI dialect without a model: always the same for the same request, with
 * usage that counts the answer. The `sandbox` member of a request can ask for any fault of a real provider.
 */
export function sandbox({ clock }: { readonly clock: Clock }): TextProvider {
  return {
    async complete(call, signal) {
      const scripted = answerTo[call.route as OpenAiRoute](call.body)
      if ('problem' in scripted) return badRequest(scripted.problem)
      const { readTimeoutMs: limitMs, lateMs } = call
      const delayMs = delayOf(scripted.options)
      const outcome = await waited(delayMs, clock, { limitMs, signal })
      if (outcome?.outcome === 'timed_out' && lateMs !== undefined)
        return {
          outcome: 'timed_out',
          late: lateCall(scripted, clock, { delayMs: delayMs - limitMs, lateMs }),
        }
      return outcome ?? wholeAnswer(scripted, clock.now())
    },

    async stream(call, signal) {
      const scripted = answerTo[call.route as OpenAiRoute](call.body)
      if ('problem' in scripted) return badRequest(scripted.problem)
      const limits = { limitMs: call.readTimeoutMs, signal }
      const outcome =
        (await waited(delayOf(scripted.options), clock, limits)) ?? insteadOfAnswer(scripted.options)
      if (outcome !== undefined) return outcome
      if (scripted.stream === undefined)
        return whole(JSON.stringify(scripted.json(clock.now())), scripted.options)
      const { status = 200, cost_usd: cost = null } = scripted.options
      const script = streamScript(scripted.stream(clock.now()), scripted.options, PACE_MS)
      const body = scriptedStream(script, clock, { idleTimeoutMs: call.idleTimeoutMs, signal })
      return { outcome: 'opened', status, reportedCost: cost, body }
    },
  }
}

/** The sandbox is always available, unless it is switched off. */
export async function probeSandbox({ isSandboxOn }: { readonly isSandboxOn: boolean }): Promise<ProbeResult> {
  const detail = isSandboxOn
    ? 'Runs inside the gateway.'
    : 'Is switched off by TOLLGATE_SANDBOX: its models are neither listed nor served.'
  return { ok: true, detail }
}

type ScriptedAnswer = {
  readonly options: SandboxOptions
  readonly json: (nowMs: number) => unknown
  /** Absent if the route does not stream. */
  readonly stream?: (nowMs: number) => WholeStream
}

const answerTo: Readonly<
  Record<OpenAiRoute, (body: string) => ScriptedAnswer | { readonly problem: SandboxProblem }>
> = {
  chat(body) {
    const read = readRequest(chatRequest, body)
    if ('problem' in read) return read
    const { request } = read
    return {
      options: request.sandbox,
      json: nowMs => chatJson(composeAnswer(request), request.model, secondsOf(nowMs)),
      stream: nowMs => ({
        frames: () => chatFrames(composeAnswer(request), request, secondsOf(nowMs)),
        errorFrame: error => `data: ${JSON.stringify({ error })}\n\n`,
      }),
    }
  },
  embeddings(body) {
    const read = readRequest(embeddingsRequest, body)
    if ('problem' in read) return read
    return { options: read.request.sandbox, json: () => embeddingsJson(read.request) }
  },
  responses(body) {
    const read = readRequest(responsesRequest, body)
    if ('problem' in read) return read
    const { request } = read
    const { sandbox: options } = request
    const response = (nowMs: number) => composeResponse(request, secondsOf(nowMs))
    return {
      options,
      json: nowMs => response(nowMs).at('over'),
      stream: nowMs => ({
        frames: () => responseEvents(response(nowMs), options.no_event_names !== true),
        errorFrame: error => responseErrorEvent(error, options.error_frame_after ?? 0),
      }),
    }
  },
}

/** Unix time in seconds, as in OpenAI's `created`. */
function secondsOf(nowMs: number): number {
  return Math.floor(nowMs / 1000)
}

const BROKEN_JSON = '{"id":"chatcmpl-sandbox","choices":[{"index":0,"mess'

function delayOf({ fail, delay_ms: delayMs = 0 }: SandboxOptions): number {
  return fail === 'hang' ? Infinity : delayMs
}

/** Waits. Resolves with an outcome if the wait ended early. */
async function waited(
  delayMs: number,
  clock: Clock,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: CallerSignal | undefined },
): Promise<Exclude<ProviderOutcome, { outcome: 'answered' }> | undefined> {
  if (signal?.aborted === true) return { outcome: 'aborted' }
  if (delayMs > 0 && !(await pause(clock, Math.min(delayMs, limitMs), signal))) return { outcome: 'aborted' }
  return delayMs >= limitMs ? { outcome: 'timed_out' } : undefined
}

function lateCall(
  scripted: ScriptedAnswer,
  clock: Clock,
  { delayMs, lateMs }: { readonly delayMs: number; readonly lateMs: number },
): LateCall {
  const abandoned = new AbortController()
  const answer = async () => {
    const outcome = await waited(delayMs, clock, { limitMs: lateMs, signal: abandoned.signal })
    return outcome ?? wholeAnswer(scripted, clock.now())
  }
  return { outcome: answer(), abandon: () => abandoned.abort() }
}

function wholeAnswer(scripted: ScriptedAnswer, nowMs: number): ProviderOutcome {
  const outcome = insteadOfAnswer(scripted.options)
  if (outcome !== undefined) return outcome
  const { body, fail } = scripted.options
  if (body !== undefined) return whole(body, scripted.options)
  if (fail === 'cut') return { outcome: 'unreachable', reason: 'ECONNRESET' }
  if (fail === 'broken_json') return whole(BROKEN_JSON, scripted.options)
  return whole(JSON.stringify(scripted.json(nowMs)), scripted.options)
}

/** The outcomes without an answer of the route, streamed or not. */
function insteadOfAnswer(options: SandboxOptions): ProviderOutcome | undefined {
  if (options.fail === 'refused') return { outcome: 'unreachable', reason: 'ECONNREFUSED' }
  if (options.fail === 'reset') return { outcome: 'unreachable', reason: 'ECONNRESET' }
  if (options.fail === 'html') return whole(HTML, options, 'text/html')
  return scriptedError(options)
}

const HTML = '<html><body>Welcome to the sandbox</body></html>'

/** The error that the request asks for with a status or with the members of the error. */
function scriptedError(options: SandboxOptions): ProviderOutcome | undefined {
  const { status = 200, error, error_frame_after } = options
  const isRequested = status >= 400 || (error !== undefined && error_frame_after === undefined)
  if (!isRequested) return undefined
  const body = options.body ?? JSON.stringify({ error: sandboxError(options) })
  return whole(body, { ...options, status: status < 400 ? 500 : status })
}

function badRequest({ message, param }: SandboxProblem): ProviderOutcome {
  const error = { message, type: 'invalid_request_error', param, code: 'sandbox_invalid_request' }
  return whole(JSON.stringify({ error }), { status: 400 })
}

function whole(body: string, options: SandboxOptions, contentType = 'application/json'): ProviderOutcome {
  const { status = 200, retry_after_s: retryAfterS, cost_usd: cost } = options
  return {
    outcome: 'answered',
    status,
    contentType,
    retryAfter: retryAfterS === undefined ? undefined : readRetryAfter(String(retryAfterS)),
    reportedCost: cost ?? null,
    body,
  }
}
