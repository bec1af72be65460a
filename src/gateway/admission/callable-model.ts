import { mayUseModel } from '../../domain/accounts/key-access.ts'
import { canReach, findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Model, ModelKind } from '../../domain/catalog/model.ts'
import { findPricedModel } from '../../domain/catalog/price-list.ts'
import type { SandboxSwitch } from '../../domain/catalog/provider.ts'
import { nearest } from '../../domain/catalog/rows/nearest.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Authenticated } from '../ports/access/api-keys.ts'

/** A client can send a name of any length. The error repeats only its beginning. */
const NAME_SHOWN_MAX = 200
/** Comparing an unknown name with many others would be slow. */
const COMPARED_MAX = 500

const routesOfKind = {
  chat: '/v1/chat/completions, /v1/responses or /v1/messages',
  embedding: '/v1/embeddings',
  image: '/v1/images/generations',
  video: '/v1/videos',
} as const satisfies Record<ModelKind, string>

const nounOf = {
  chat: 'a chat model',
  embedding: 'an embedding model',
  image: 'an image model',
  video: 'a video model',
} as const satisfies Record<ModelKind, string>

/** The models that a caller may call: those of the catalog that its key and its account may use. */
export type Callables = SandboxSwitch & { readonly catalog: Catalog; readonly caller: Authenticated }

type ModelOf<Kind extends ModelKind> = Model & { readonly kind: Kind }

/**
 * The catalog row of a model name, with the prices of the account. Throws `model_not_found` if the name is unknown, its
 * row is off or of another kind, or the caller may not call it; a client cannot distinguish these.
 */
export function callableModel<Kind extends ModelKind>(
  name: string,
  kind: Kind,
  callables: Callables,
): ModelOf<Kind> {
  const { catalog, caller } = callables
  const model = findPricedModel(catalog, caller.account, name)
  if (model !== undefined && isOfKind(model, kind) && mayCall(model, callables)) return model
  throw modelNotFound(name, { ...callables, kind })
}

function isOfKind<Kind extends ModelKind>(model: Model, kind: Kind): model is ModelOf<Kind> {
  return model.kind === kind
}

/** The models that the error may name: models of this key, and the kind of model that the route serves. */
export type ModelSearch = Callables & {
  /** Undefined for a route that serves every kind. */
  readonly kind: ModelKind | undefined
}

/**
 * The error for a name that is unknown, switched off, of another kind, or not for this key. For a model of another kind
 * that the key may call, it names the route. Otherwise it suggests a near name. The error is the same for an unknown
 * model, one that is off and one that the key may not call.
 */
export function modelNotFound(name: string, search: ModelSearch): GatewayError {
  const { catalog, kind, caller } = search
  const shown = name.slice(0, NAME_SHOWN_MAX)
  const model = findModel(catalog, name)
  if (model !== undefined && kind !== undefined && model.kind !== kind && mayCall(model, search))
    return refusal(`"${model.id}" is ${nounOf[model.kind]}. Call it at ${routesOfKind[model.kind]}.`)
  const near = nearest(shown, namesOf(search))
  const help = near === undefined ? '' : ` The nearest name is "${near}".`
  return refusal(
    caller.account.sandboxOnly
      ? `The sandbox has no model "${shown}", and this key works only with the sandbox.${help}`
      : `The model "${shown}" does not exist.${help}`,
  )
}

function refusal(message: string): GatewayError {
  return new GatewayError('model_not_found', message, { param: 'model' })
}

function namesOf(search: ModelSearch): readonly string[] {
  const names: string[] = []
  for (const model of search.catalog.models.values()) {
    if (names.length === COMPARED_MAX) break
    const isOfKind = search.kind === undefined || model.kind === search.kind
    if (isOfKind && mayCall(model, search)) names.push(model.id)
  }
  return names
}

function mayCall(model: Model, { catalog, caller, isSandboxOn }: Callables): boolean {
  return (
    model.enabled &&
    mayUseModel(caller.apiKey.settings, model) &&
    canReach(caller.account, model, catalog, { isSandboxOn })
  )
}
