import { rulesOf } from '../../domain/catalog/field-rule.ts'
import type { TextModel, Upstream } from '../../domain/catalog/model.ts'
import { mayReach, type Provider } from '../../domain/catalog/provider.ts'
import type { TextTariff } from '../../domain/pricing/tariff.ts'
import { GatewayError } from '../../domain/errors.ts'
import { findRefusedField } from '../../protocol/field-rules.ts'
import { mediaWords } from '../../protocol/media-inputs.ts'
import type { TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import { admitSpend } from '../admission/admit-spend.ts'
import { callableModel, type Callables } from '../admission/callable-model.ts'
import type { HoldQueue } from '../admission/hold-queue.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Hold } from '../ports/ledger.ts'
import type { Moderator } from '../ports/moderator.ts'
import type { ProviderAdapters } from '../ports/providers.ts'
import type { RateLimits, TextProvider } from '../ports/text-provider.ts'
import { quoteText, requireToolPrice, type Quote } from './quote-text.ts'
import type { Conversion, ConvertedRequest, ParsedTextCall } from './text-call.ts'
import type { TextRecord } from './text-record.ts'

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
  const { hold, rates } = await admitSpend({ amount, text: { request, quote } }, record, () =>
    holds.place({ id, accountId: caller.account.id, amount, demand }, client),
  )
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

/** Only the end of a longer text is moderated, because it was said last. */
export const MODERATED_CHARS_MAX = 128_000
/** The length of one piece. Moderators refuse texts that are too long for their own model. */
export const PIECE_CHARS_MAX = 8_000

/**
 * Throws `content_policy_violation` if the moderator flags the text. If it gives no verdict, the request continues,
 * because a failing moderator must not stop every model.
 */
async function moderate(text: string, moderator: Moderator, record: TextRecord): Promise<void> {
  if (text === '') return
  const moderation = await moderator.judge(piecesOf(text.slice(-MODERATED_CHARS_MAX)))
  record.moderation = moderation.verdict
  if (moderation.verdict === 'unavailable') record.moderationProblem = moderation.problem
  if (moderation.verdict !== 'flagged') return
  throw new GatewayError('content_policy_violation', 'Content moderation refused the text of this request.')
}

function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += PIECE_CHARS_MAX) {
    pieces.push(text.slice(start, start + PIECE_CHARS_MAX))
  }
  return pieces
}

/** The target of one call: an upstream of a catalog row, its provider, and the adapter that calls it. */
export type Destination = {
  /** As it was at admission. Its cost does not change for this request either. */
  readonly upstream: Upstream<TextTariff>
  readonly provider: Provider
  readonly adapter: TextProvider
  /** How the upstream is called, if not in the dialect of the client's route. */
  readonly converted?: ConvertedRequest
}

/**
 * The upstreams of a model that have the route. An upstream without the route is called with the converted request if
 * there is one. Throws `route_not_supported` if none is left, or the reason why the request cannot be converted.
 */
export function destinationsOf(
  model: TextModel,
  dialect: Pick<TextDialect, 'upstreamRoute'>,
  { catalog, caller, providers, isSandboxOn }: Callables & { readonly providers: ProviderAdapters },
  conversion?: Conversion,
): readonly Destination[] {
  const destinations: Destination[] = []
  for (const upstream of model.upstreams) {
    const provider = catalog.providers.get(upstream.provider)
    if (provider === undefined || !mayReach(provider, caller.account, { isSandboxOn })) continue
    const adapter = providers[provider.kind].text
    if (adapter === undefined) continue
    if (provider.routes.includes(dialect.upstreamRoute)) destinations.push({ upstream, provider, adapter })
    else if (conversion !== undefined) {
      const { converted } = conversion
      if (converted !== undefined && provider.routes.includes(converted.dialect.upstreamRoute))
        destinations.push({ upstream, provider, adapter, converted })
    }
  }
  if (destinations.length > 0) return destinations
  if (conversion?.problem !== undefined) throw conversion.problem
  const message = `"${model.id}" cannot be called on this route.`
  throw new GatewayError('route_not_supported', message, { param: 'model' })
}

/**
 * The destinations that may get a request: those whose rules, of the row and of the provider, allow every field. Each
 * is checked with the request as its provider gets it. Throws `unpriced_feature` if no destination is left.
 */
function permittedDestinations(
  destinations: readonly Destination[],
  model: TextModel,
  { dialect, request }: Pick<ParsedTextCall, 'dialect' | 'request'>,
): readonly Destination[] {
  if (!destinations.some(({ provider }) => rulesOf(model, provider).length > 0)) return destinations
  let refusal: GatewayError | undefined
  const permitted = destinations.filter(({ provider, upstream, converted }) => {
    const rules = rulesOf(model, provider)
    if (rules.length === 0) return true
    const form = converted ?? { dialect, request }
    const text = form.dialect.forUpstream(form.request, upstream.model, provider, model)
    const problem = findRefusedField(rules, text)
    refusal ??= problem
    return problem === undefined
  })
  if (permitted.length === 0 && refusal !== undefined) throw refusal
  return permitted
}
