import { GatewayError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import type { TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import type { HoldQueue } from '../hold-queue.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Hold, HoldOutcome } from '../ports/ledger.ts'
import type { Moderator } from '../ports/moderator.ts'
import type { ProviderAdapters } from '../ports/providers.ts'
import { moderate } from './moderate.ts'
import { affordableCeiling, quoteText, requireToolPrice, type Quote } from './quote-text.ts'
import { resolveModel, type ResolvedModel } from './resolve-model.ts'
import type { ParsedCall } from './text-call.ts'

/** A request that was admitted: its model is known and its worst case is held. */
export type AdmittedRequest<Dialect extends TextDialect = TextDialect> = ParsedCall<Dialect> &
  ResolvedModel & {
    /** The prices at admission. Editing the catalog while the request runs does not change them. */
    readonly quote: Quote
    readonly hold: Hold
  }

export type AdmitPorts = {
  readonly catalog: CatalogStore
  readonly holds: HoldQueue
  readonly providers: ProviderAdapters
  /** Undefined if moderation is off. */
  readonly moderator: Moderator | undefined
}

/**
 * Finds the model of a request, moderates its text and holds its worst case. Rejects with a GatewayError if the request
 * is refused; then nothing is held.
 */
export async function admitText<Dialect extends TextDialect>(
  parsed: ParsedCall<Dialect>,
  { catalog, holds, moderator, providers }: AdmitPorts,
  { isSandboxOn }: { readonly isSandboxOn: boolean },
): Promise<AdmittedRequest<Dialect>> {
  const { call, dialect, request, conversion } = parsed
  const { id, caller, client, trace } = call
  const context = { catalog: catalog.current(), caller, providers, isSandboxOn }
  const { model, destinations } = resolveModel(request.model, dialect, context, conversion)
  trace.model = model.id
  const quote = quoteText(model, request)
  if (request.serverTools !== undefined) requireToolPrice(request.serverTools, quote)
  if (moderator !== undefined && dialect.moderatedText !== undefined)
    await moderate(dialect.moderatedText(request), moderator, trace)
  const outcome = await holds.place({ id, accountId: caller.account.id, amount: quote.amount }, client)
  if (outcome.outcome === 'refused') throw insufficientBalance(request, quote, outcome)
  return { call, dialect, request, model, destinations, quote, hold: outcome.hold }
}

function insufficientBalance(
  { inputTokensEstimate, outputCeilingField }: TextRequest,
  quote: Quote,
  { available, held }: Extract<HoldOutcome, { outcome: 'refused' }>,
): GatewayError {
  const ceiling = affordableCeiling(quote, available)
  const sentences = [
    `This request can cost up to ${formatUsd(quote.amount)} USD. The available balance is ${formatUsd(available)} USD.`,
    ...(inputTokensEstimate === Infinity
      ? ['Content that it only references (a stored conversation, a file) counts as a full context window.']
      : []),
    ceiling === undefined
      ? 'Add funds.'
      : `Set \`${outputCeilingField}\` to ${ceiling} or less, or add funds.`,
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
