import { formatUsd } from '../../domain/money.ts'
import type { TextCall, TextReply } from '../../gateway/text-call.ts'
import type { Accounts } from '../../gateway/ports/accounts.ts'
import { authenticate, type HashKey } from '../authenticate.ts'
import type { BodyLimits } from '../incoming-request.ts'
import type { Handler, Reply } from '../request-context.ts'

export type TextRoutePorts = {
  readonly accounts: Accounts
  readonly hashKey: HashKey
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
  const { accounts, hashKey, bodyLimits, idempotencyHeader } = ports
  return async ({ request, id, trace }) => {
    const found = authenticate(request, { accounts, hashKey })
    const caller = found instanceof Promise ? await found : found
    trace.accountId = caller.account.publicId
    trace.apiKeyId = caller.apiKey.publicId
    const read = request.body(bodyLimits)
    const body = read instanceof Promise ? await read : read
    const call = { id, caller, body, client: request, trace }
    const mayReplay = replayFirst !== undefined && !bypasses(request.header(idempotencyHeader))
    const reply = await (mayReplay ? replayFirst(call, answer) : answer(call))
    return textReply(reply, ports)
  }
}

function bypasses(idempotency: string | null): boolean {
  return idempotency !== null && idempotency.trim().toLowerCase() === 'bypass'
}

function textReply(
  { status, headers, body, cost, ended, isReplay }: TextReply,
  { costHeader, replayHeader }: TextRoutePorts,
): Reply {
  const sent: Record<string, string> = { 'content-type': 'application/json', ...headers }
  if (cost !== null) sent[costHeader] = formatUsd(cost)
  if (isReplay === true) sent[replayHeader] = 'true'
  return ended === undefined ? { status, headers: sent, body } : { status, headers: sent, body, ended }
}
