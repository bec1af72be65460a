import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { TextModel, Upstream } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { TextDialect } from '../../protocol/text-dialect.ts'
import type { Authenticated } from '../ports/accounts.ts'

/** Where one attempt goes. */
export type Destination = { readonly upstream: Upstream; readonly provider: Provider }

export type ResolvedModel = { readonly model: TextModel; readonly destinations: readonly Destination[] }

/**
 * The row a request's model name means, and the upstreams that offer the route, in order. Throws `model_not_found` for a name
 * that is unknown, switched off or another kind's, so that none of them can be told from outside, and `route_not_supported`
 * where no upstream of the row has the route.
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

/** For a name that is unknown, switched off, or another kind's: which of them, nobody is told. */
export function modelNotFound(name: string, { account }: Pick<Authenticated, 'account'>): GatewayError {
  const shown = name.slice(0, NAME_SHOWN_MAX)
  const message = account.sandboxOnly
    ? `There is no model called "${shown}" on the sandbox, and this key is for the sandbox alone.`
    : `There is no model called "${shown}".`
  return new GatewayError('model_not_found', message, { param: 'model' })
}

/** A client can send a name of any length; the error repeats only this much of it. */
const NAME_SHOWN_MAX = 200
