import type { KeyRoute } from '../../domain/accounts/key-settings.ts'
import type { BodyLimits } from '../../http1/server/request-body.ts'
import type { ByteBudget } from '../../gateway/byte-budgets/byte-budget.ts'
import type { RequestCoalescer } from '../../gateway/replays/request-coalescer.ts'
import type { TextCall } from '../../gateway/text/text-call.ts'
import type { StreamedAnswer, TextResult, CompleteAnswer } from '../../gateway/text/text-result.ts'
import { messagesErrorBody } from '../../protocol/messages/errors.ts'
import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import type { UpstreamError } from '../../protocol/upstream-error.ts'
import { callerOf, type CallerPorts } from '../caller.ts'
import { readText } from '../incoming-request.ts'
import {
  sentTags,
  UNBUFFERED,
  type Handler,
  type HttpReply,
  type RequestContext,
} from '../request-context.ts'

type TextRoutePorts = {
  readonly caller: CallerPorts
  /** The group of routes to which the route belongs. */
  readonly group: KeyRoute
  readonly bodyLimits: BodyLimits
  /** Its owners are API keys. */
  readonly bodyMemory: ByteBudget
  /** `x-acme-tags` for the brand `acme`. */
  readonly tagsHeader: string
}

type ReplayPorts = {
  /** Undefined if replays are off. */
  readonly coalescer: RequestCoalescer | undefined
  /** Whether the account and the model of a request allow it to share an answer. */
  readonly mayReplay: (call: TextCall) => boolean
  /** `x-acme-idempotency` for the brand `acme`. With the value `bypass`, a request gets a new answer. */
  readonly idempotencyHeader: string
}

/** The route of a dialect, for holders of an API key. Identical requests share one answer. */
export function replayedRoute(
  ports: TextRoutePorts,
  dialect: TextDialect | StreamDialect,
  answer: Answer,
  { coalescer, mayReplay, idempotencyHeader }: ReplayPorts,
): Handler {
  return async context => {
    const call = await readCall(context, ports)
    const { request } = context
    if (coalescer === undefined || bypasses(request.header(idempotencyHeader)) || !mayReplay(call))
      return textReply(await answer(call))
    const idempotencyKey = request.header('idempotency-key')
    const identified = idempotencyKey === null ? call : { ...call, idempotencyKey }
    return textReply(await coalescer.answer(identified, dialect, answer))
  }
}

type Answer = (call: TextCall) => Promise<TextResult>

/** A text route without replays, for holders of an API key. */
export function textRoute(ports: TextRoutePorts, answer: Answer): Handler {
  return async context => textReply(await answer(await readCall(context, ports)))
}

/** The route for messages. Headers of its requests say how to read the body. */
export function messagesRoute(ports: TextRoutePorts, answer: Answer): Handler {
  return async context => {
    const call = await readCall(context, ports)
    const { request } = context
    const apiVersion = {
      version: request.header('anthropic-version'),
      betas: request.header('anthropic-beta'),
    }
    return textReply(await answer({ ...call, apiVersion }), messagesErrorBody)
  }
}

/** Authenticates a request and reads its body. */
async function readCall(context: RequestContext, ports: TextRoutePorts): Promise<TextCall> {
  const { request, id, record } = context
  const caller = await callerOf(context, ports.group, ports.caller)
  const tagged = sentTags(context, ports.tagsHeader)
  context.bodyMemory = ports.bodyMemory.open(caller.apiKey.id)
  const body = await readText(request, ports.bodyLimits, context.bodyMemory)
  return { id, caller, body, ...tagged, client: request, record }
}

function bypasses(idempotency: string | null): boolean {
  return idempotency !== null && idempotency.trim().toLowerCase() === 'bypass'
}

/** Makes the error body that the clients of a route read. */
type RefusalBody = (body: { readonly error: UpstreamError }) => object
const plainRefusal: RefusalBody = body => body

/** The HTTP reply to a text request. Throws the error of a request that no upstream answered. */
function textReply(result: TextResult, refusalBody = plainRefusal): HttpReply {
  switch (result.kind) {
    case 'answer':
      return {
        status: 200,
        headers: answerHeaders(result),
        body: result.body,
        cost: result.cost,
        isReplay: result.isReplay,
      }
    case 'stream':
      return {
        status: 200,
        headers: answerHeaders(result),
        body: result.body,
        ended: result.ended,
        isReplay: result.isReplay,
      }
    case 'refusal':
      return {
        status: result.status,
        headers: upstreamHeaders({}, result),
        body: JSON.stringify(refusalBody({ error: result.error })),
      }
    case 'error':
      throw result.error
  }
}

function answerHeaders(answer: CompleteAnswer | StreamedAnswer): Record<string, string> {
  const { contentType } = answer
  const headers: Record<string, string> = { 'content-type': contentType }
  if (contentType.startsWith('text/event-stream')) Object.assign(headers, UNBUFFERED)
  return upstreamHeaders(headers, answer)
}

/** Adds the rate limits and the `retry-after` of the upstream. */
function upstreamHeaders(
  headers: Record<string, string>,
  { rateLimits, retryAfter }: Pick<CompleteAnswer, 'rateLimits' | 'retryAfter'>,
): Record<string, string> {
  for (const [name, value] of rateLimits) headers[name] = value
  if (retryAfter !== undefined) headers['retry-after'] = retryAfter
  return headers
}
