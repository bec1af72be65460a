import { GatewayError } from '../domain/errors.ts'
import { formatId, type Id } from '../domain/ids.ts'
import { formatUsd } from '../domain/money.ts'
import { errorHeaders, statusOfError } from './errors.ts'
import type { ReplyStyle } from './reply-style.ts'
import type { IncomingRequest } from './incoming-request.ts'
import { isStream, type Handler, type Reply, type RequestContext } from './request-context.ts'
import type { RunningRequests } from './running-requests.ts'

/** What answers requests of one path and method. */
export type Endpoint = {
  /** The route's name, such as `chat`; never the path, which a client can make up. */
  readonly route: string
  readonly handle: Handler
  readonly style: ReplyStyle
}

/** What a finished request was, for the log and the metrics. */
export type Finished = {
  readonly context: RequestContext
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

export type Edge = {
  readonly nextId: () => Id
  /** Milliseconds of a clock that never steps back. */
  readonly elapsed: () => number
  readonly observe: (finished: Finished) => void
  readonly running: RunningRequests
  /** `x-acme-cost-usd` for the brand `acme`. */
  readonly costHeader: string
  /** `x-acme-replay`. */
  readonly replayHeader: string
}

/** A request that can be replied to, once. */
export type Asked = IncomingRequest & {
  /** With lines of the edge's own for its head. Throws, with nothing sent, for a reply that cannot be. */
  reply(reply: Reply, lines: string): void
}

/** Written to the log alone: the client that would read it has left. */
const CLIENT_LEFT = 499

/**
 * One request from its head to the end of its reply: gives it its id, turns what is thrown into the error envelope, and has it
 * logged and counted once. Rejects only where `observe` throws.
 */
export async function answer(request: Asked, { route, handle, style }: Endpoint, edge: Edge): Promise<void> {
  edge.running.begin()
  const startedMs = edge.elapsed()
  const id = edge.nextId()
  const context: RequestContext = { request, id, requestId: formatId('req', id), trace: {} }
  let reply: Reply | undefined
  try {
    reply = await handle(context)
    request.reply(reply, linesOf(reply, context, style, edge))
  } catch (error) {
    // One that could not be sent.
    if (reply !== undefined && isStream(reply.body)) reply.body.cancel()
    reply = failed(error, context, style)
    request.reply(reply, linesOf(reply, context, style, edge))
  }
  if (reply.ended !== undefined) await reply.ended
  // First, so that no fault in what comes then makes a stop wait for a request that is over.
  edge.running.end()
  edge.observe({ context, route, status: reply.status, durationMs: edge.elapsed() - startedMs })
}

/** What every reply carries, and what only some do, as lines of its head. What of it comes from outside was read as such lines. */
function linesOf(
  { headers, rateLimits = '', body, cost, isReplay }: Reply,
  { requestId }: RequestContext,
  { requestIdHeaders }: ReplyStyle,
  { costHeader, replayHeader }: Edge,
): string {
  let lines = rateLimits
  if (headers['content-type'] === undefined && body !== null) lines += 'content-type: application/json\r\n'
  for (const name of requestIdHeaders) lines += `${name}: ${requestId}\r\n`
  if (cost !== undefined && cost !== null) lines += `${costHeader}: ${formatUsd(cost)}\r\n`
  return isReplay === true ? `${lines}${replayHeader}: true\r\n` : lines
}

function failed(error: unknown, { request, trace }: RequestContext, style: ReplyStyle): Reply {
  const { hasLeft } = request
  const known = error instanceof GatewayError ? error : unexpected(error, trace)
  // Nobody is told anything then, and what failed because of it (a body half read, a call cut short) is nobody's fault.
  if (hasLeft) trace.clientDisconnected = true
  else {
    trace.errorCode = known.code
    if (known !== error) trace.failure = error
  }
  const headers = errorHeaders(known)
  // What is left of a body that was not read to its end would be taken for the next request.
  if (known.code === 'request_too_large' || known.code === 'body_timeout') headers['connection'] = 'close'
  const status = hasLeft ? CLIENT_LEFT : statusOfError(known.code)
  return { status, headers, body: JSON.stringify(style.errorBody(known)) }
}

function unexpected(cause: unknown, { upstreamStatus }: RequestContext['trace']): GatewayError {
  const message = 'The gateway failed to answer this request. Quote the request id to the operator.'
  // An upstream has done its work and will be paid: a repeat would be a second bill.
  const mayRepeat = upstreamStatus === undefined
  return new GatewayError('server_error', message, mayRepeat ? { cause } : { cause, shouldRetry: false })
}
