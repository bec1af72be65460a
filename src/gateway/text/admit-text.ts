import type { TextModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import { mediaWords } from '../../protocol/media-inputs.ts'
import type { TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import { admitted } from '../admission/admit-spend.ts'
import { callableModel } from '../admission/callable-model.ts'
import type { HoldQueue } from '../admission/hold-queue.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Hold } from '../ports/ledger/ledger.ts'
import type { Moderator } from '../ports/providers/moderator.ts'
import type { ProviderAdapters } from '../ports/providers/providers.ts'
import type { RateLimits } from '../ports/providers/text-provider.ts'
import { destinationsOf, permittedDestinations, type Destination } from '../upstreams/destinations.ts'
import { moderate } from './moderate.ts'
import { quoteText, requireToolPrice, type Quote } from './quote-text.ts'
import type { ParsedTextCall } from './text-call.ts'

/** A request that was admitted: its model is known and its worst case is held. */
export type AdmittedRequest<Dialect extends TextDialect = TextDialect> = ParsedTextCall<Dialect> & {
  readonly model: TextModel
  readonly destinations: readonly Destination[]
  /** The prices at admission. Editing the catalog while the request runs does not change them. */
  readonly quote: Quote
  readonly hold: Hold
  /** The reply has the limits of the caller. They replace the upstream's. */
  readonly hasRateLimits: boolean
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
  parsed: ParsedTextCall<Dialect>,
  { catalog, holds, moderator, providers }: AdmitPorts,
  { isSandboxOn }: { readonly isSandboxOn: boolean },
): Promise<AdmittedRequest<Dialect>> {
  const { call, dialect, request, conversion } = parsed
  const { id, caller, client, record } = call
  if (request.userId !== undefined) record.userId = request.userId
  const context = { catalog: catalog.current(), caller, providers, isSandboxOn }
  const model = callableModel(request.model, dialect.serves, context)
  const withRoute = destinationsOf(model, dialect, context, conversion)
  record.model = model.id
  refuseUnreadInputs(request, model)
  const destinations = permittedDestinations(withRoute, model, parsed)
  const quote = quoteText(model, request, destinations)
  if (request.serverTools !== undefined) requireToolPrice(request.serverTools, quote)
  if (moderator !== undefined && dialect.moderatedText !== undefined)
    await moderate(dialect.moderatedText(request), moderator, record)
  const { amount } = quote
  const { id: apiKeyId, projectId } = caller.apiKey
  const demand = {
    apiKeyId,
    ...(projectId !== undefined && { projectId }),
    model: model.id,
    tokens: tokensOf(quote),
    amount,
  }
  const outcome = await holds.place({ id, accountId: caller.account.id, amount, demand }, client)
  const { hold, rates } = admitted(outcome, { amount, text: { request, quote } }, record)
  record.held = hold.amount
  return {
    call,
    dialect,
    request,
    model,
    destinations,
    quote,
    hold,
    hasRateLimits: rates?.requests !== undefined || rates?.tokens !== undefined,
  }
}

/** The most tokens that a request can use: those that a limit of tokens takes until it ends. */
function tokensOf({ worst: { inputTokens, outputTokens, choices } }: Quote): number {
  return inputTokens + outputTokens * choices
}

/** The headers with the limits of an upstream that the client gets. */
export function passedRateLimits(
  { hasRateLimits }: Pick<AdmittedRequest, 'hasRateLimits'>,
  { provider }: Pick<Destination, 'provider'>,
  rateLimits: RateLimits,
): RateLimits {
  return hasRateLimits || provider.passRateLimits === false ? [] : rateLimits
}

/** Throws `unsupported_input` for a part that the model does not read, if its row says what it reads. */
function refuseUnreadInputs({ media }: TextRequest, model: TextModel): void {
  if (model.kind !== 'chat' || model.inputs === undefined || media === undefined) return
  for (const [kind, place] of media) {
    if (model.inputs.includes(kind)) continue
    const { one, many } = mediaWords[kind]
    const message = `"${model.id}" does not read ${many}: ${place} is ${one}. Leave it out, or use another model.`
    // A conversation keeps the part, so every repeat is refused too.
    throw new GatewayError('unsupported_input', message, { param: place, shouldRetry: false })
  }
}
