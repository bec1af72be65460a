import type { TextCall, TextReply } from '../../gateway/text/text-call.ts'
import type { Accounts, Authenticated } from '../../gateway/ports/accounts.ts'
import { authenticate, type HashKey } from '../authenticate.ts'
import type { BodyLimits } from '../incoming-request.ts'
import type { Handler, RequestContext } from '../request-context.ts'

export type TextRoutePorts = {
  readonly accounts: Accounts
  readonly hashKey: HashKey
  readonly bodyLimits: BodyLimits
  /** `x-acme-idempotency` for the brand `acme`: what a request may bypass replays with. */
  readonly idempotencyHeader: string
}

/** Answers a request from what an identical one got, or else with `answer`. */
export type ReplayFirst = (call: TextCall, answer: Answer) => TextReply | Promise<TextReply>
type Answer = (call: TextCall) => Promise<TextReply>

/**
 * A keyed text route: authenticates, reads the body, and runs `answer`. With `replayFirst`,
 * identical requests share one answer, unless they say `bypass`.
 */
export function textRoute(ports: TextRoutePorts, answer: Answer, replayFirst?: ReplayFirst): Handler {
  const { bodyLimits, idempotencyHeader } = ports

  const answerAs = (
    { request, id, trace }: RequestContext,
    caller: Authenticated,
    body: TextCall['body'],
  ) => {
    const call = { id, caller, body, client: request, trace }
    const mayReplay = replayFirst !== undefined && !bypasses(request.header(idempotencyHeader))
    return mayReplay ? replayFirst(call, answer) : answer(call)
  }

  const readAs = (context: RequestContext, caller: Authenticated) => {
    const { request, trace } = context
    trace.accountId = caller.account.publicId
    trace.apiKeyId = caller.apiKey.publicId
    const body = request.body(bodyLimits)
    return body instanceof Promise
      ? body.then(whole => answerAs(context, caller, whole))
      : answerAs(context, caller, body)
  }

  // Both are known at once as a rule, and then nothing is waited for.
  return context => {
    const caller = authenticate(context.request, ports)
    return caller instanceof Promise ? caller.then(known => readAs(context, known)) : readAs(context, caller)
  }
}

function bypasses(idempotency: string | null): boolean {
  return idempotency !== null && idempotency.trim().toLowerCase() === 'bypass'
}
