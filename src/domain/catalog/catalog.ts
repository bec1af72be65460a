import type { AnyModelSettings, Model, ModelDraft, Upstream } from './model.ts'
import type { Provider, ProviderSettings } from './provider.ts'

/** All providers and models at one revision. Frozen: an edit makes a new one. */
export type Catalog = {
  /** Grows by one with each edit. */
  readonly revision: number
  readonly updatedAtMs: number
  readonly providers: ReadonlyMap<string, Provider>
  /** In the order in which they are listed. */
  readonly models: ReadonlyMap<string, Model>
  /** Rows that cannot be served yet. Only the operator sees them; no route does. */
  readonly drafts: ReadonlyMap<string, ModelDraft>
}

/** A whole catalog as an operator writes it. */
export type CatalogSettings = {
  readonly providers: readonly ProviderSettings[]
  readonly models: readonly AnyModelSettings[]
}

export const EMPTY_CATALOG: Catalog = {
  revision: 0,
  updatedAtMs: 0,
  providers: new Map(),
  models: new Map(),
  drafts: new Map(),
}

/**
 * The row a client's model name means, whether it is on or off. Leading segments are folded away one at a time until a
 * row matches: `openai/gpt-x` is `gpt-x`, and `together/meta/x` finds a row called `meta/x`. Otherwise lookup is exact.
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

/** The catalog without the models that nothing but the sandbox offers: what there is where the sandbox is switched off. */
export function withoutSandbox(catalog: Catalog): Catalog {
  return withModels(catalog, model => model.upstreams.some(upstream => !isOnSandbox(catalog, upstream)))
}

/** The catalog with the models that the sandbox offers, alone or with others: what an account for the sandbox can call. */
export function ofSandbox(catalog: Catalog): Catalog {
  return withModels(catalog, model => model.upstreams.some(upstream => isOnSandbox(catalog, upstream)))
}

/** How many models are on. Where the sandbox is off, so is what it alone offers. */
export function countOn(catalog: Catalog, sandbox: { readonly isSandboxOn: boolean }): number {
  const { models } = sandbox.isSandboxOn ? catalog : withoutSandbox(catalog)
  return [...models.values()].filter(model => model.enabled).length
}

/** The providers whose keys were stored and are lost. */
export function providersWithoutKeys(catalog: Catalog): string[] {
  return [...catalog.providers.values()].filter(({ secret }) => secret.from === 'lost').map(({ id }) => id)
}

function isOnSandbox(catalog: Catalog, { provider }: Upstream): boolean {
  return catalog.providers.get(provider)?.kind === 'sandbox'
}

function withModels(catalog: Catalog, isKept: (model: Model) => boolean): Catalog {
  return { ...catalog, models: new Map([...catalog.models].filter(([, model]) => isKept(model))) }
}
