import { GatewayError } from '../domain/errors.ts'
import { formatId, type Id } from '../domain/ids.ts'
import { errorHeaders, statusOfError } from './errors.ts'
import { plainReplies, type ReplyStyle } from './reply-style.ts'
import type { Handler, Reply, RequestContext } from './request-context.ts'
import type { RunningRequests } from './running-requests.ts'

/** What a finished request was, for the log and the metrics. */
export type Finished = {
  readonly context: RequestContext
  /** The route's name, such as `chat`; never the path, which a client can make up. */
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
}

/** Written to the log alone: the client that would read it has left. */
const CLIENT_LEFT = 499

/**
 * A handler as the server calls it: gives the request its id, turns what is thrown into the error envelope, and has every
 * request logged and counted once. Never rejects.
 */
export function endpoint(
  route: string,
  handle: Handler,
  edge: Edge,
  style: ReplyStyle = plainReplies,
): (request: Request) => Promise<Response> {
  return async request => {
    edge.running.begin()
    const startedMs = edge.elapsed()
    const id = edge.nextId()
    const context: RequestContext = { request, id, requestId: formatId('req', id), trace: {} }
    let reply: Reply
    try {
      reply = await handle(context)
    } catch (error) {
      reply = failed(error, context, style)
    }
    for (const name of style.requestIdHeaders) reply.headers[name] = context.requestId
    const finish = () => {
      edge.observe({ context, route, status: reply.status, durationMs: edge.elapsed() - startedMs })
      edge.running.end()
    }
    if (reply.ended === undefined) finish()
    else void reply.ended.then(finish)
    return new Response(reply.body, reply)
  }
}

function failed(error: unknown, { request, trace }: RequestContext, style: ReplyStyle): Reply {
  const hasLeft = request.signal.aborted
  const known = error instanceof GatewayError ? error : unexpected(error, trace)
  // A client that leaves half-way through its body makes the read fail; that is no fault of ours.
  if (known === error || !hasLeft) trace.errorCode = known.code
  if (known !== error && !hasLeft) trace.failure = error
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
