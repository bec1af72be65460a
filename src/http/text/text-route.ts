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
}

/** A keyed text route: authenticates, reads the body, runs `answer`, and puts the cost into the header. */
export function textRoute(ports: TextRoutePorts, answer: (call: TextCall) => Promise<TextReply>): Handler {
  const { accounts, hashKey, clock, bodyLimits, costHeader } = ports
  return async ({ request, id, trace }) => {
    const found = authenticate(request.headers, { accounts, hashKey })
    const caller = found instanceof Promise ? await found : found
    trace.accountId = caller.account.publicId
    trace.apiKeyId = caller.apiKey.publicId
    const body = await readBody(request, bodyLimits, clock)
    const reply = await answer({ id, caller, body, client: request, trace })
    return textReply(reply, request, costHeader)
  }
}

function textReply(
  { status, headers, body, cost, ended }: TextReply,
  request: Request,
  costHeader: string,
): Reply {
  const sent: Record<string, string> = { 'content-type': 'application/json', ...headers }
  if (cost !== null) sent[costHeader] = formatUsd(cost)
  if (body instanceof Uint8Array) return { status, headers: sent, body }
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
