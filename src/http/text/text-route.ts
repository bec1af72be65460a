import type { BodyLimits } from '../../http1/server/request-body.ts'
import type { Accounts } from '../../gateway/ports/accounts.ts'
import type { TextCall } from '../../gateway/text/text-call.ts'
import type { TextResult } from '../../gateway/text/text-result.ts'
import { authenticate, type HashKey } from '../authenticate.ts'
import type { Handler } from '../request-context.ts'
import { textReply } from './text-reply.ts'

export type TextRoutePorts = {
  readonly accounts: Accounts
  readonly hashKey: HashKey
  readonly bodyLimits: BodyLimits
  /** `x-acme-idempotency` for the brand `acme`. With the value `bypass`, a request gets an answer of its own. */
  readonly idempotencyHeader: string
}

type Answer = (call: TextCall) => Promise<TextResult>
/** Answers a request with the answer of an identical one if there is one, and otherwise with `answer`. */
export type Coalesce = (call: TextCall, answer: Answer) => Promise<TextResult>

/** A text route for holders of an API key. With `coalesce`, identical requests share one answer. */
export function textRoute(ports: TextRoutePorts, answer: Answer, coalesce?: Coalesce): Handler {
  return async ({ request, id, trace }) => {
    const caller = await authenticate(request, ports)
    trace.accountId = caller.account.publicId
    trace.apiKeyId = caller.apiKey.publicId
    const body = await request.text(ports.bodyLimits)
    const call = { id, caller, body, client: request, trace }
    const mayCoalesce = coalesce !== undefined && !bypasses(request.header(ports.idempotencyHeader))
    return textReply(await (mayCoalesce ? coalesce(call, answer) : answer(call)))
  }
}

function bypasses(idempotency: string | null): boolean {
  return idempotency !== null && idempotency.trim().toLowerCase() === 'bypass'
}
