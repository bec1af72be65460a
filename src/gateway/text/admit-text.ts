import { GatewayError } from '../../domain/errors.ts'
import { addUsd, formatUsd, type NanoUsd } from '../../domain/money.ts'
import type { TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import type { HoldQueue } from '../hold-queue.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Hold, HoldOutcome } from '../ports/ledger.ts'
import type { Moderator } from '../ports/moderator.ts'
import type { ProviderAdapters } from '../ports/providers.ts'
import { moderate } from './moderate.ts'
import { affordableCeiling, quoteText, requireToolPrice, type Quote } from './quote-text.ts'
import { permittedDestinations, resolveModel, type ResolvedModel } from './resolve-model.ts'
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
  const resolved = resolveModel(request.model, dialect, context, conversion)
  const { model } = resolved
  trace.model = model.id
  const destinations = permittedDestinations(resolved, parsed)
  const quote = quoteText(model, request, destinations)
  if (request.serverTools !== undefined) requireToolPrice(request.serverTools, quote)
  if (moderator !== undefined && dialect.moderatedText !== undefined)
    await moderate(dialect.moderatedText(request), moderator, trace)
  const outcome = await holds.place({ id, accountId: caller.account.id, amount: quote.amount }, client)
  if (outcome.outcome === 'refused') throw refusalOf(request, quote, outcome)
  return { call, dialect, request, model, destinations, quote, hold: outcome.hold }
}

/** The `Retry-After` of a request whose money is held by running requests. */
const RESERVED_RETRY_AFTER_S = '2'

/**
 * The error for a request whose worst case is not available. If running text requests hold what it needs, a repeat can
 * help; otherwise only more money or a smaller request can.
 */
function refusalOf(
  request: TextRequest,
  quote: Quote,
  { available, held, heldText }: Extract<HoldOutcome, { outcome: 'refused' }>,
): GatewayError {
  const ceiling = affordableCeiling(quote, available)
  const isReserved = addUsd(available, heldText) >= quote.amount
  const message = sentencesOf(request, quote, { available, heldText, ceiling, isReserved }).join(' ')
  const extensions = {
    required_usd: formatUsd(quote.amount),
    available_usd: formatUsd(available),
    held_usd: formatUsd(held),
    ...(ceiling === undefined ? {} : { max_affordable_output_tokens: ceiling }),
  }
  return isReserved
    ? new GatewayError('balance_reserved', message, {
        extensions,
        retryAfter: RESERVED_RETRY_AFTER_S,
        shouldRetry: true,
      })
    : new GatewayError('insufficient_balance', message, { extensions })
}

function sentencesOf(
  { inputTokensEstimate, outputCeilingField }: TextRequest,
  { amount }: Quote,
  balance: {
    readonly available: NanoUsd
    readonly heldText: NanoUsd
    readonly ceiling: number | undefined
    readonly isReserved: boolean
  },
): readonly string[] {
  const { available, heldText, ceiling, isReserved } = balance
  const remedies = [
    ...(isReserved ? ['retry when they have ended'] : []),
    ...(ceiling === undefined ? [] : [`set \`${outputCeilingField}\` to ${ceiling} or less`]),
    'add funds',
  ]
  const remedy = remedies.length === 1 ? 'add funds' : `${remedies.slice(0, -1).join(', ')}, or add funds`
  return [
    `This request can cost up to ${formatUsd(amount)} USD. The available balance is ${formatUsd(available)} USD.`,
    ...(isReserved ? [`Running requests of this account hold ${formatUsd(heldText)} USD more.`] : []),
    ...(inputTokensEstimate === Infinity
      ? ['Content that it only references (a stored conversation, a file) counts as a full context window.']
      : []),
    `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`,
  ]
}
