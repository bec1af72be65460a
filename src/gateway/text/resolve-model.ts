import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { TextModel, Upstream } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { TextDialect } from '../../protocol/text-dialect.ts'
import type { Authenticated } from '../ports/accounts.ts'
import type { ProviderAdapters } from '../ports/providers.ts'
import type { TextProvider } from '../ports/text-provider.ts'

/** The target of one call: an upstream of a catalog row, its provider, and the adapter that calls it. */
export type Destination = {
  readonly upstream: Upstream
  readonly provider: Provider
  readonly adapter: TextProvider
}

export type ResolvedModel = { readonly model: TextModel; readonly destinations: readonly Destination[] }

/**
 * Finds the catalog row of a model name and its upstreams that have the route. Throws `model_not_found` if the name is
 * unknown, its row is off or of another kind; a client cannot distinguish these. Throws `route_not_supported` if no
 * upstream has the route, or none of their providers serves text.
 */
export function resolveModel(
  name: string,
  dialect: Pick<TextDialect, 'upstreamRoute' | 'serves'>,
  context: {
    readonly catalog: Catalog
    readonly caller: Authenticated
    readonly providers: ProviderAdapters
    readonly isSandboxOn: boolean
  },
): ResolvedModel {
  const { catalog, caller, providers, isSandboxOn } = context
  const model = findModel(catalog, name)
  if (model === undefined || !model.enabled || model.kind !== dialect.serves)
    throw modelNotFound(name, caller)
  const destinations: Destination[] = []
  let isReachable = false
  for (const upstream of model.upstreams) {
    const provider = catalog.providers.get(upstream.provider)
    if (provider === undefined) continue
    if (provider.kind === 'sandbox' ? !isSandboxOn : caller.account.sandboxOnly) continue
    isReachable = true
    const adapter = providers[provider.kind].text
    if (adapter !== undefined && provider.routes.includes(dialect.upstreamRoute))
      destinations.push({ upstream, provider, adapter })
  }
  if (!isReachable) throw modelNotFound(name, caller)
  if (destinations.length === 0) {
    throw new GatewayError('route_not_supported', `"${model.id}" cannot be called on this route.`, {
      param: 'model',
    })
  }
  return { model, destinations }
}

/** The error for a name that is unknown, switched off or of another kind. It does not say which. */
export function modelNotFound(name: string, { account }: Pick<Authenticated, 'account'>): GatewayError {
  const shown = name.slice(0, NAME_SHOWN_MAX)
  const message = account.sandboxOnly
    ? `The sandbox has no model "${shown}", and this key works only on the sandbox.`
    : `The model "${shown}" does not exist.`
  return new GatewayError('model_not_found', message, { param: 'model' })
}

/** A client can send a name of any length. The error repeats only its beginning. */
const NAME_SHOWN_MAX = 200
