import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bytes } from '../../src/domain/bytes.ts'
import type { ImageModel, VideoModel } from '../../src/domain/catalog/model.ts'
import type { Provider } from '../../src/domain/catalog/provider.ts'
import { usd } from '../../src/domain/money.ts'
import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import { aDataFolder } from '../support/data-folder.ts'
import { anAudit, NOW } from '../support/ledger-builders.ts'
import { aSqliteStore } from '../support/test-store.ts'

const ACCOUNTS = 4
/** Providers without a wire by their traits, and two with the wire of a kind that each run chooses. */
const PROVIDERS = ['async-exact', 'async-blind', 'sync-exact', 'sync-blind', 'wire-1', 'wire-2']

/** A store with accounts and a catalog, before anything has happened. */
export type Template = {
  readonly callers: readonly Authenticated[]
  /** Copies the database file, and returns the path of the copy. */
  readonly copy: () => string
}

let made: Promise<Template> | undefined

/** Made once: a copy takes less time than a new store. */
export function template(): Promise<Template> {
  return (made ??= makeTemplate())
}

async function makeTemplate(): Promise<Template> {
  const folder = aDataFolder()
  const path = join(folder, 'template.db')
  const store = aSqliteStore(path)
  for (const id of PROVIDERS) await store.catalog.putProvider(aProvider(id), anAudit())
  for (const model of models) await store.catalog.putModel(model, anAudit())
  const callers: Authenticated[] = []
  for (let number = 1; number <= ACCOUNTS; number += 1) {
    const account = await store.accounts.createAccount({
      publicId: `acct_${number}`,
      name: `account ${number}`,
      sandboxOnly: false,
      audit: anAudit(),
    })
    const apiKey = await store.apiKeys.create({
      publicId: `key_${number}`,
      accountId: account.id,
      name: 'default',
      hash: keyHash(number),
      prefix: `tg_live_key${number}`,
      audit: anAudit(),
    })
    callers.push({ account, apiKey })
  }
  await store.close()
  const copyPath = join(folder, 'run.db')
  return {
    callers,
    copy() {
      copyFileSync(path, copyPath)
      return copyPath
    },
  }
}

/** The hash of the first secret of a key. */
export function keyHash(number: number): Bytes {
  return new Uint8Array(32).fill(number)
}

export function aProvider(id: string): Provider {
  return {
    id,
    kind: 'openai-compatible',
    baseUrl: `https://${id}.example`,
    secret: { from: 'none' },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 5000,
    reusesConnections: true,
  }
}

const common = { enabled: true, displayName: 'A model', description: '', ownedBy: 'sim', createdAtMs: NOW }
const upstreamOf = (provider: string) => [{ provider, model: 'v1', order: 1, weight: 1 }]

/** An image row and two video rows on each provider. */
export const models: readonly (ImageModel | VideoModel)[] = PROVIDERS.flatMap(
  (provider): (ImageModel | VideoModel)[] => [
    {
      ...common,
      id: `draw-${provider}`,
      kind: 'image',
      upstreams: upstreamOf(provider),
      pricing: { perImage: usd('0.04') },
      params: { aspect_ratio: ['1:1', '16:9'] },
      fixedParams: {},
    },
    {
      ...common,
      id: `film-${provider}`,
      kind: 'video',
      upstreams: upstreamOf(provider),
      engine: 'family-b',
      pricing: { perSecond: usd('0.033333333') },
      params: { aspect_ratio: ['16:9'] },
      fixedParams: {},
      holdDurationSeconds: 15,
    },
    {
      ...common,
      id: `pinned-${provider}`,
      kind: 'video',
      upstreams: upstreamOf(provider),
      engine: 'family-e',
      pricing: { perSecond: usd('0.05') },
      params: {},
      fixedParams: { duration: 6 },
      holdDurationSeconds: 6,
    },
  ],
)
