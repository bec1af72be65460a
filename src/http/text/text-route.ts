import { formatUsd } from '../../domain/money.ts'
import type { ByteSource } from '../../gateway/byte-source.ts'
import type { TextCall, TextReply } from '../../gateway/text-call.ts'
import type { Accounts } from '../../gateway/ports/accounts.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import { authenticate, type HashKey } from '../authenticate.ts'
import { readBody, type BodyLimits } from '../read-body.ts'
import type { Handler, Reply } from '../request-context.ts'

export type TextRoutePorts = {
  readonly accounts: Accounts
  readonly hashKey: HashKey
  readonly clock: Clock
  readonly bodyLimits: BodyLimits
  /** `x-acme-cost-usd` for the brand `acme`. */
  readonly costHeader: string
  /** `x-acme-replay`, and the `x-acme-idempotency` that a request may bypass replays with. */
  readonly replayHeader: string
  readonly idempotencyHeader: string
}

/** Answers a request from what an identical one got, or else with `answer`. */
export type ReplayFirst = (call: TextCall, answer: Answer) => TextReply | Promise<TextReply>
type Answer = (call: TextCall) => Promise<TextReply>

/**
 * A keyed text route: authenticates, reads the body, runs `answer`, and puts the cost into the header. With `replayFirst`,
 * identical requests share one answer, unless they say `bypass`.
 */
export function textRoute(ports: TextRoutePorts, answer: Answer, replayFirst?: ReplayFirst): Handler {
  const { accounts, hashKey, clock, bodyLimits, idempotencyHeader } = ports
  return async ({ request, id, trace }) => {
    const found = authenticate(request.headers, { accounts, hashKey })
    const caller = found instanceof Promise ? await found : found
    trace.accountId = caller.account.publicId
    trace.apiKeyId = caller.apiKey.publicId
    const body = await readBody(request, bodyLimits, clock)
    const call = { id, caller, body, client: request, trace }
    const mayReplay = replayFirst !== undefined && !bypasses(request.headers.get(idempotencyHeader))
    const reply = await (mayReplay ? replayFirst(call, answer) : answer(call))
    return textReply(reply, request, ports)
  }
}

function bypasses(idempotency: string | null): boolean {
  return idempotency !== null && idempotency.trim().toLowerCase() === 'bypass'
}

function textReply(
  { status, headers, body, cost, ended, isReplay }: TextReply,
  request: Request,
  { costHeader, replayHeader }: TextRoutePorts,
): Reply {
  const sent: Record<string, string> = { 'content-type': 'application/json', ...headers }
  if (cost !== null) sent[costHeader] = formatUsd(cost)
  if (isReplay === true) sent[replayHeader] = 'true'
  if (typeof body === 'string' || body instanceof Uint8Array) return { status, headers: sent, body }
  const stream = streamOf(body, request.signal)
  return ended === undefined
    ? { status, headers: sent, body: stream }
    : { status, headers: sent, body: stream, ended }
}

/** Pulled piece by piece as the client takes them. */
function streamOf(source: ByteSource, clientLeft: AbortSignal): ReadableStream<Uint8Array> {
  // A client that leaves before the runtime has begun to read is told by its signal alone.
  clientLeft.addEventListener('abort', () => source.cancel(), { once: true })
  if (clientLeft.aborted) source.cancel()
  return new ReadableStream(
    {
      async pull(controller) {
        const bytes = await source.read()
        if (bytes === undefined) controller.close()
        else controller.enqueue(bytes)
      },
      cancel: () => source.cancel(),
    },
    { highWaterMark: 0 },
  )
}
