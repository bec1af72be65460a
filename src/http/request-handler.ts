import { GatewayError, isOutage, SERVER_ERROR_MESSAGE, type ErrorCode } from '../domain/errors.ts'
import { formatId, type Id } from '../domain/ids.ts'
import { formatUsd } from '../domain/money.ts'
import type { RefusalPace } from '../gateway/admission/refusal-pace.ts'
import type { RequestHandler } from '../http1/server/server.ts'
import type { ServerRequest } from '../http1/server/server-request.ts'
import { isStream } from '../http1/server/response-writer.ts'
import type { Cors } from './cors.ts'
import { decodedRequest } from './incoming-request.ts'
import { messagesErrorBody } from '../protocol/messages/errors.ts'
import { errorHeaders, gatewayErrorOf, statusOfError } from './errors.ts'
import { messagesReplies, plainReplies, type ReplyStyle } from './reply-style.ts'
import type { Handler, HttpReply, RequestContext } from './request-context.ts'
import { routeTable, type Endpoint, type Route } from './routes.ts'

/** The facts about a request for the log and the metrics. */
export type FinishedRequest = {
  readonly context: RequestContext
  readonly route: string
  readonly status: number
  readonly durationMs: number
  /** Until the first bytes of the reply were sent. */
  readonly firstByteMs: number
}

export type RequestHandlerPorts = {
  readonly nextId: () => Id
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
  /** The time for headers with instants. */
  readonly now: () => number
  /** Called once for each request, when its reply has ended. */
  readonly observe: (finished: FinishedRequest) => void
  /** `x-acme-cost-usd` for the brand `acme`. */
  readonly costHeader: string
  /** `x-acme-replay`. */
  readonly replayHeader: string
  readonly cors: Cors
  readonly refusals: Pick<RefusalPace, 'turn'>
}

/** A request as the server passes it on. */
export type RespondableRequest = RequestContext['request'] & Pick<ServerRequest, 'respond'>

/** Answers the requests of a server by their routes. Rejects only when `observe` throws. */
export function requestHandler(routes: readonly Route[], ports: RequestHandlerPorts): RequestHandler {
  const table = routeTable(routes)
  const endpointOf = (request: RespondableRequest) =>
    ports.cors.preflight(request, table.methodsAt) ?? table.find(request.method, request.path)
  return {
    handle: request => answer(request, endpointOf(request), ports),
    refuse: (request, error) => answer(request, refusing(error), ports),
  }
}

/** Gives a request its id, answers it, and records it when the reply has ended. */
export async function answer(
  request: RespondableRequest,
  endpoint: Endpoint,
  ports: RequestHandlerPorts,
): Promise<void> {
  const startedMs = ports.elapsed()
  const id = ports.nextId()
  const context: RequestContext = {
    request: decodedRequest(request),
    id,
    requestId: formatId('req', id),
    record: {},
  }
  try {
    const reply = await respond(request, context, endpoint, ports)
    const sentMs = ports.elapsed()
    if (reply.ended !== undefined) await reply.ended
    ports.observe({
      context,
      route: endpoint.route,
      status: reply.status,
      durationMs: ports.elapsed() - startedMs,
      firstByteMs: sentMs - startedMs,
    })
  } finally {
    context.bodyMemory?.release()
  }
}

/** Sends the reply of the endpoint, or an error envelope. Returns the reply that was sent. */
async function respond(
  request: RespondableRequest,
  context: RequestContext,
  endpoint: Endpoint,
  ports: RequestHandlerPorts,
): Promise<HttpReply> {
  const style = styleFor(request, endpoint.style)
  try {
    const reply = await endpoint.handle(context)
    send(reply, request, context, { style, ports })
    return reply
  } catch (error) {
    const refusal = errorReply(error, context, style)
    const turn = turnOf(context, ports)
    if (turn !== undefined) await turn
    send(refusal, request, context, { style, ports })
    return refusal
  }
}

/**
 * The style for one client: the Anthropic SDKs expect the replies of the messages route on every path, also on one that
 * no route has. They are known by their `anthropic-version`.
 */
function styleFor(request: RespondableRequest, style: ReplyStyle): ReplyStyle {
  const { requestIdHeaders, addRateLimits } = messagesReplies
  if (style.requestIdHeaders === requestIdHeaders || request.header('anthropic-version') === null)
    return style
  const errorBody = (error: GatewayError) => messagesErrorBody(style.errorBody(error))
  return { ...style, requestIdHeaders, addRateLimits, errorBody }
}

/** Throws for a header that cannot be sent, after it has cancelled the stream of the reply. */
function send(
  reply: HttpReply,
  request: RespondableRequest,
  context: RequestContext,
  { style, ports }: { readonly style: ReplyStyle; readonly ports: RequestHandlerPorts },
): void {
  const { status, cookies, body, contentLength } = reply
  try {
    const headers = headersOf(reply, context, style, ports)
    request.respond({ status, headers, cookies, body, contentLength })
  } catch (error) {
    if (isStream(body)) body.cancel()
    throw error
  }
}

/** Adds the headers that are the same on all routes. */
function headersOf(
  { headers, body, cost, isReplay }: HttpReply,
  { request, requestId, record: { rates } }: RequestContext,
  { requestIdHeaders, addRateLimits }: ReplyStyle,
  { costHeader, replayHeader, cors, now }: RequestHandlerPorts,
): Record<string, string> {
  const all = { ...headers }
  if (body !== null) all['content-type'] ??= 'application/json'
  for (const name of requestIdHeaders) all[name] = requestId
  if (cost !== undefined && cost !== null) all[costHeader] = formatUsd(cost)
  if (rates !== undefined) addRateLimits(all, rates, now())
  if (isReplay === true) all[replayHeader] = 'true'
  cors.addTo(all, request)
  return all
}

/** Resolves when a refusal of a known key may be sent; undefined for at once. A failure after a hold does not wait. */
function turnOf(
  { record, bodyMemory }: RequestContext,
  { refusals }: RequestHandlerPorts,
): Promise<void> | undefined {
  const { apiKeyId, held, cost, jobId } = record
  if (apiKeyId === undefined || held !== undefined || cost !== undefined || jobId !== undefined)
    return undefined
  // Its body is not needed any more.
  bodyMemory?.release()
  return refusals.turn(apiKeyId)
}

/** Only logged, because the client is gone. */
const CLIENT_CLOSED_REQUEST = 499

/** The refusals of a body that has not arrived completely. */
const leavesBody: ReadonlySet<ErrorCode> = new Set(['request_too_large', 'body_timeout', 'overloaded'])

function errorReply(error: unknown, { request, record }: RequestContext, style: ReplyStyle): HttpReply {
  const { clientDisconnected } = request
  const known = gatewayErrorOf(error) ?? serverError(error)
  // After a disconnect, a half-read body or an interrupted call is not a fault.
  if (clientDisconnected) record.clientDisconnected = true
  else {
    record.errorCode = known.code
    record.errorExtensions = known.extras.extensions
    // A bug or an outage. The cause of a client's mistake, such as the parser's error, is not worth a log line.
    if (known.type === 'server_error' && (known.code === 'server_error' || known.cause !== undefined))
      record.failure = isOutage(known) ? known : (known.cause ?? known)
  }
  const headers = errorHeaders(known)
  // The rest of an unfinished body must not be read as the next request.
  if (leavesBody.has(known.code)) headers['connection'] = 'close'
  const status = clientDisconnected
    ? CLIENT_CLOSED_REQUEST
    : (style.statusOf?.(known) ?? statusOfError(known.code))
  return { status, headers, body: JSON.stringify(style.errorBody(known)) }
}

function serverError(cause: unknown): GatewayError {
  return new GatewayError('server_error', SERVER_ERROR_MESSAGE, { cause })
}

function refusing(error: Error): Endpoint {
  const handle: Handler = async () => {
    throw error
  }
  return { route: 'none', handle, style: plainReplies }
}
