import { mayUseModel } from '../accounts/key-access.ts'
import type { KeySettings } from '../accounts/key-settings.ts'
import type { AnyModelSettings, Model, ModelDraft, ModelKind, Upstream } from './model.ts'
import type { PriceList } from './price-list.ts'
import {
  mayReach,
  variablesOf,
  type Provider,
  type ProviderSettings,
  type Reaching,
  type SandboxSwitch,
} from './provider.ts'

/** All providers and models at one revision. It is frozen: an edit makes a new catalog. */
export type Catalog = {
  /** Incremented by each edit. */
  readonly revision: number
  readonly updatedAtMs: number
  readonly providers: ReadonlyMap<string, Provider>
  /** In the order of the model list. */
  readonly models: ReadonlyMap<string, Model>
  /** Rows that cannot be served yet. Only the operator sees them. */
  readonly drafts: ReadonlyMap<string, ModelDraft>
  readonly priceLists: ReadonlyMap<string, PriceList>
}

/** A whole catalog as an operator writes it. */
export type CatalogSettings = {
  readonly providers: readonly ProviderSettings[]
  readonly models: readonly AnyModelSettings[]
  /** Absent: the stored lists stay. */
  readonly priceLists?: readonly PriceList[]
}

export const EMPTY_CATALOG: Catalog = {
  revision: 0,
  updatedAtMs: 0,
  providers: new Map(),
  models: new Map(),
  drafts: new Map(),
  priceLists: new Map(),
}

/**
 * Finds the row for a client's model name, enabled or not. Removes leading segments one at a time until a row matches:
 * `openai/gpt-x` finds `gpt-x`, and `together/meta/x` finds `meta/x`. Otherwise the lookup is exact.
 */
export function findModel(catalog: Catalog, name: string): Model | undefined {
  for (let rest = name; ;) {
    const model = catalog.models.get(rest)
    if (model !== undefined) return model
    const slash = rest.indexOf('/')
    if (slash < 0) return undefined
    rest = rest.slice(slash + 1)
  }
}

/** The catalog with only the models that an account can reach; see `canReach`. */
export function ofAccount(catalog: Catalog, account: Reaching, sandbox: SandboxSwitch): Catalog {
  return withModels(catalog, model => canReach(account, model, catalog, sandbox))
}

/** Whether an account may reach one of the upstreams of a model. */
export function canReach(
  account: Reaching,
  { upstreams }: Pick<Model, 'upstreams'>,
  { providers }: Pick<Catalog, 'providers'>,
  sandbox: SandboxSwitch,
): boolean {
  return upstreams.some(({ provider: id }) => {
    const provider = providers.get(id)
    return provider !== undefined && mayReach(provider, account, sandbox)
  })
}

/** An account that is not limited to the sandbox. */
export const REGULAR_ACCOUNT: Reaching = { sandboxOnly: false }

/** The catalog with only the models that a key may call. */
export function ofKey(catalog: Catalog, settings: KeySettings | undefined): Catalog {
  if (settings?.models === undefined && settings?.routes === undefined) return catalog
  return withModels(catalog, model => mayUseModel(settings, model))
}

/** What a deployment can call: the providers for each kind of model, and the keys that it has. */
export type Callable = {
  readonly serves: (provider: Provider, kind: 'image' | 'video') => boolean
  readonly isVariableSet: (variable: string) => boolean
}

/**
 * The catalog without models that cannot be called now: none of their upstreams has a provider that serves their kind
 * and has its key.
 */
export function withCallable(catalog: Catalog, callable: Callable): Catalog {
  return withModels(catalog, ({ kind, upstreams }) =>
    upstreams.some(
      upstream => obstacleOf(catalog.providers.get(upstream.provider), kind, callable) === undefined,
    ),
  )
}

/** A model that no request can use now, and why, as a sentence for the operator. */
export type Uncallable = { readonly id: string; readonly reason: string }

/** The models that are unfinished, and those that are on and cannot be called. */
export function uncallableModels(
  catalog: Catalog,
  callable: Callable & SandboxSwitch,
): readonly Uncallable[] {
  const drafts = [...catalog.drafts.values()].map(({ id, pricing }) => ({
    id,
    reason: `It is unfinished: it has no ${pricing === undefined ? 'price' : 'max_output_tokens'}.`,
  }))
  const models = [...catalog.models.values()].flatMap(({ id, kind, enabled, upstreams }) => {
    const obstacles = upstreams.map(upstream => {
      const isOff = !callable.isSandboxOn && isOnSandbox(catalog, upstream)
      const provider = catalog.providers.get(upstream.provider)
      const obstacle = isOff ? 'the sandbox is switched off' : obstacleOf(provider, kind, callable)
      return obstacle && `provider "${upstream.provider}": ${obstacle}`
    })
    if (!enabled || obstacles.includes(undefined)) return []
    return [{ id, reason: `It cannot be called: ${[...new Set(obstacles)].join('; ')}.` }]
  })
  return [...models, ...drafts]
}

/** Why a provider cannot serve a model of this kind now; undefined if it can. */
function obstacleOf(provider: Provider | undefined, kind: ModelKind, callable: Callable): string | undefined {
  if (provider === undefined) return 'it is not in the catalog'
  if (!canServe(provider, kind, callable)) return `it serves no ${kind} models`
  if (provider.secret.from === 'lost') return 'its stored key cannot be read; enter it again'
  const missing = variablesOf(provider).filter(variable => !callable.isVariableSet(variable))
  if (missing.length === 0) return undefined
  return `the environment variable ${missing.join(' and ')} is not set`
}

function canServe(provider: Provider, kind: ModelKind, { serves }: Callable): boolean {
  switch (kind) {
    case 'chat':
      return provider.routes.some(route => route !== 'embeddings')
    case 'embedding':
      return provider.routes.includes('embeddings')
    case 'image':
    case 'video':
      return serves(provider, kind)
  }
}

/** The number of enabled models. With the sandbox off, models that only the sandbox offers do not count. */
export function countOn(catalog: Catalog, sandbox: SandboxSwitch): number {
  return [...ofAccount(catalog, REGULAR_ACCOUNT, sandbox).models.values()].filter(model => model.enabled)
    .length
}

/** The ids of the providers whose stored keys can no longer be read. */
export function providersWithoutKeys(catalog: Catalog): string[] {
  return [...catalog.providers.values()].filter(({ secret }) => secret.from === 'lost').map(({ id }) => id)
}

/** The environment variables that the providers name and that are not set, each once, in the order of the providers. */
export function missingVariables(catalog: Catalog, isSet: (variable: string) => boolean): readonly string[] {
  const named = [...catalog.providers.values()].flatMap(variablesOf)
  return [...new Set(named)].filter(variable => !isSet(variable))
}

function isOnSandbox(catalog: Catalog, { provider }: Upstream): boolean {
  return catalog.providers.get(provider)?.kind === 'sandbox'
}

function withModels(catalog: Catalog, isKept: (model: Model) => boolean): Catalog {
  return { ...catalog, models: new Map([...catalog.models].filter(([, model]) => isKept(model))) }
}
