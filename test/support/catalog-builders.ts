import type { Catalog, CatalogSettings } from '../../src/domain/catalog/catalog.ts'
import type { AnyModelSettings, ModelSettings } from '../../src/domain/catalog/model.ts'
import type { ListPrice, PriceList } from '../../src/domain/catalog/price-list.ts'
import type { ProviderSettings } from '../../src/domain/catalog/provider.ts'
import type { GatewayError } from '../../src/domain/errors.ts'
import { usd } from '../../src/domain/money.ts'
import type { Audit } from '../../src/gateway/ports/access/audit.ts'
import type { StoreKind } from './test-store.ts'

/** An empty catalog on two nodes. */
export async function openCatalog(kind: StoreKind) {
  const opened = await kind.open()
  return {
    store: opened.store.catalog,
    other: opened.other.catalog,
    accounts: opened.store.accounts,
    /** The actions and subjects of the audit log, oldest first. */
    audited: async () => {
      const lines = await opened.store.auditLog.list({ limit: 100 })
      return lines.toReversed().map(({ action, subject }) => `${action} ${subject}`)
    },
    reopen: async () => (await opened.reopen()).catalog,
  }
}

export function aProvider(id: string, own: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    id,
    kind: 'openai-compatible',
    baseUrl: 'https://api.example.com/v1',
    secret: { from: 'none' },
    headers: {},
    routes: ['chat', 'responses', 'embeddings'],
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 5000,
    reusesConnections: true,
    ...own,
  }
}

export function aModel(
  id: string,
  own: { readonly enabled?: boolean; readonly displayName?: string } = {},
  provider = 'main',
): ModelSettings {
  return {
    id,
    kind: 'chat',
    enabled: true,
    displayName: id,
    description: '',
    ownedBy: 'system',
    upstreams: [{ provider, model: id, order: 1, weight: 1 }],
    pricing: { kind: 'tariff', tariff: { input: usd('2.5'), output: usd('10') } },
    maxOutputTokens: 4096,
    ...own,
  }
}

export function aVideo(id: string): ModelSettings {
  return {
    id,
    kind: 'video',
    enabled: true,
    displayName: id,
    description: '',
    ownedBy: 'system',
    upstreams: [{ provider: 'main', model: id, order: 1, weight: 1 }],
    pricing: { perSecond: usd('0.1') },
    engine: 'family-g',
    params: {},
    fixedParams: {},
    holdDurationSeconds: 8,
  }
}

/** A list with a factor of 0.8. */
export function aPriceList(id: string, prices: Readonly<Record<string, ListPrice>> = {}): PriceList {
  return { id, factor: 800_000_000n, prices: new Map(Object.entries(prices)) }
}

export function aDraft(id: string): AnyModelSettings {
  return {
    id,
    kind: 'chat',
    enabled: false,
    displayName: id,
    description: '',
    ownedBy: 'system',
    upstreams: [{ provider: 'main', model: id, order: 1, weight: 1 }],
  }
}

export function at(atMs: number, action = 'edit', subject = 'it'): Audit {
  return { actor: 'admin', action, subject, atMs }
}

export function rowsOf({ models, drafts }: Catalog): CatalogSettings['models'] {
  return [...models.values(), ...drafts.values()]
}

/** Everything but the revision, as lists: maps that are equal may differ in their order. */
export function viewOf({ providers, models, drafts }: Catalog) {
  return { providers: [...providers.values()], models: [...models.values()], drafts: [...drafts.values()] }
}

export async function refusal(edit: Promise<unknown>): Promise<readonly (string | undefined)[]> {
  const refused = await edit.then(
    () => {
      throw new Error('The edit was not refused.')
    },
    (error: GatewayError) => error,
  )
  return [refused.code, refused.extras.param, refused.message]
}
