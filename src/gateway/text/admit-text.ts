import { GatewayError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { parseJsonObject } from '../../protocol/json/parse-json.ts'
import type { TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import type { HoldQueue } from '../hold-queue.ts'
import { moderate } from './moderate.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Moderator } from '../ports/moderator.ts'
import type { Hold, HoldOutcome } from '../ports/ledger.ts'
import { affordableCeiling, quoteText, type Quote } from './quote-text.ts'
import { resolveModel, type ResolvedModel } from './resolve-model.ts'
import type { TextCall } from './text-call.ts'

/** A request that was admitted, and all that its end needs to know. Its money is held. */
export type AdmittedRequest<Request extends TextRequest = TextRequest> = ResolvedModel & {
  readonly call: TextCall
  readonly dialect: TextDialect<Request>
  readonly request: Request
  /** Frozen here: an edit of the catalog while the request runs changes nothing for it. */
  readonly quote: Quote
  readonly hold: Hold
}

export type AdmitPorts = {
  readonly catalog: CatalogStore
  readonly holds: HoldQueue
  /** Undefined where moderation is off. */
  readonly moderator: Moderator | undefined
}

/**
 * Reads a request, finds its model, has its text moderated and holds its worst case. Throws, or rejects with, a GatewayError for every
 * refusal; after one, nothing is held.
 */
export function admitText<Request extends TextRequest>(
  call: TextCall,
  dialect: TextDialect<Request>,
  ports: AdmitPorts,
  { isSandboxOn }: { readonly isSandboxOn: boolean },
): AdmittedRequest<Request> | Promise<AdmittedRequest<Request>> {
  const request = dialect.readRequest(parseJsonObject(call.body))
  const catalog = ports.catalog.current()
  const { model, destinations } = resolveModel(request.model, dialect, {
    catalog,
    caller: call.caller,
    isSandboxOn,
  })
  call.trace.model = model.id
  const asked = { call, dialect, request, model, destinations, quote: quoteText(model, request) }
  const { moderator } = ports
  if (moderator === undefined || dialect.moderatedText === undefined) return held(asked, ports)
  return moderate(dialect.moderatedText(request), moderator, call.trace).then(() => held(asked, ports))
}

/** At once where the ledger answers at once, as it does for nearly every request: nothing is waited for that is known. */
function held<Request extends TextRequest>(
  asked: Omit<AdmittedRequest<Request>, 'hold'>,
  { holds }: AdmitPorts,
): AdmittedRequest<Request> | Promise<AdmittedRequest<Request>> {
  const { id, caller, client } = asked.call
  const outcome = holds.place({ id, accountId: caller.account.id, amount: asked.quote.amount }, client)
  return outcome instanceof Promise ? outcome.then(known => admitted(asked, known)) : admitted(asked, outcome)
}

function admitted<Request extends TextRequest>(
  { call, dialect, request, model, destinations, quote }: Omit<AdmittedRequest<Request>, 'hold'>,
  outcome: HoldOutcome,
): AdmittedRequest<Request> {
  if (outcome.outcome === 'refused') throw insufficientBalance(request, quote, outcome)
  return { call, dialect, request, model, destinations, quote, hold: outcome.hold }
}

function insufficientBalance(
  { inputTokensEstimate }: TextRequest,
  quote: Quote,
  { available, held }: Extract<HoldOutcome, { outcome: 'refused' }>,
): GatewayError {
  const ceiling = affordableCeiling(quote, available)
  const sentences = [
    `This request can cost up to ${formatUsd(quote.amount)} USD and ${formatUsd(available)} USD is available.`,
    ...(inputTokensEstimate === Infinity
      ? ['What it only names (a stored conversation, a file) counts as all that the model can read.']
      : []),
    ...(ceiling === undefined ? [] : [`An output ceiling of ${ceiling} tokens would fit.`]),
  ]
  return new GatewayError('insufficient_balance', sentences.join(' '), {
    beside: {
      required_usd: formatUsd(quote.amount),
      available_usd: formatUsd(available),
      held_usd: formatUsd(held),
      ...(ceiling === undefined ? {} : { max_affordable_output_tokens: ceiling }),
    },
  })
}
