import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { TextModel, Upstream } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { TextDialect } from '../../protocol/text-dialect.ts'
import type { Authenticated } from '../ports/accounts.ts'

/** The target of one call: an upstream of a catalog row and its provider. */
export type Destination = { readonly upstream: Upstream; readonly provider: Provider }

export type ResolvedModel = { readonly model: TextModel; readonly destinations: readonly Destination[] }

/**
 * Finds the catalog row of a model name and its upstreams that have the route. Throws `model_not_found` if the name is
 * unknown, its row is off or of another kind; a client cannot distinguish these. Throws `route_not_supported` if no
 * upstream has the route.
 */
export function resolveModel(
  name: string,
  dialect: Pick<TextDialect, 'upstreamRoute' | 'serves'>,
  context: { readonly catalog: Catalog; readonly caller: Authenticated; readonly isSandboxOn: boolean },
): ResolvedModel {
  const { catalog, caller, isSandboxOn } = context
  const model = findModel(catalog, name)
  if (model === undefined || !model.enabled || model.kind !== dialect.serves)
    throw modelNotFound(name, caller)
  const reachable = destinationsOf(model, catalog).filter(({ provider }) =>
    provider.kind === 'sandbox' ? isSandboxOn : !caller.account.sandboxOnly,
  )
  if (reachable.length === 0) throw modelNotFound(name, caller)
  const destinations = reachable.filter(({ provider }) => provider.routes.includes(dialect.upstreamRoute))
  if (destinations.length === 0) {
    throw new GatewayError('route_not_supported', `"${model.id}" cannot be called on this route.`, {
      param: 'model',
    })
  }
  return { model, destinations }
}

function destinationsOf(model: TextModel, catalog: Catalog): Destination[] {
  const destinations: Destination[] = []
  for (const upstream of model.upstreams) {
    const provider = catalog.providers.get(upstream.provider)
    if (provider !== undefined) destinations.push({ upstream, provider })
  }
  return destinations
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
