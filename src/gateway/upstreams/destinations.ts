import { rulesOf } from '../../domain/catalog/field-rule.ts'
import type { TextModel, Upstream } from '../../domain/catalog/model.ts'
import { mayReach, type Provider } from '../../domain/catalog/provider.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { TextTariff } from '../../domain/pricing/tariff.ts'
import { findRefusedField } from '../../protocol/field-rules.ts'
import type { StreamDialect, TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import type { Callables } from '../admission/callable-model.ts'
import type { ProviderAdapters } from '../ports/providers/providers.ts'
import type { TextProvider } from '../ports/providers/text-provider.ts'

/** The target of one call: an upstream of a catalog row, its provider, and the adapter that calls it. */
export type Destination = {
  /** As it was at admission. Its cost does not change for this request either. */
  readonly upstream: Upstream<TextTariff>
  readonly provider: Provider
  readonly adapter: TextProvider
  /** How the upstream is called, if not in the dialect of the client's route. */
  readonly converted?: ConvertedRequest
}

/** A request in the dialect of another route of upstreams. */
export type ConvertedRequest = { readonly dialect: StreamDialect; readonly request: TextRequest }

/** Converts a request when it is first needed. */
export interface Conversion {
  /** Undefined if the other route cannot express the request. */
  readonly converted: ConvertedRequest | undefined
  /** Why the other route cannot express the request. */
  readonly problem: GatewayError | undefined
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
export function permittedDestinations(
  destinations: readonly Destination[],
  model: TextModel,
  { dialect, request }: { readonly dialect: TextDialect; readonly request: TextRequest },
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
