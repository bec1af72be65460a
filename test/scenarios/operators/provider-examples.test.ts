import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parse } from 'yaml'
import { parseCatalogFile } from '../../../src/catalog-file/catalog-file.ts'
import { EMPTY_CATALOG } from '../../../src/domain/catalog/catalog.ts'
import type { Model } from '../../../src/domain/catalog/model.ts'
import type { Provider as CatalogProvider } from '../../../src/domain/catalog/provider.ts'
import { unpricedFeatures } from '../../../src/domain/catalog/unpriced-features.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { snippetsOf } from '../../support/snippets.ts'
import {
  providerShapes,
  REFUSED_TEMPERATURE,
  startShapedServer,
  type ShapedServer,
} from '../../support/simulators/text-providers.ts'

type Provider = { readonly id: string; base_url: string; readonly api_key?: string }
type Catalog = {
  readonly providers: readonly Provider[]
  readonly models: readonly {
    readonly id: string
    readonly upstreams: readonly [{ readonly provider: string }]
  }[]
}

/** The catalog of docs/catalog.md with all providers. */
const example = snippetsOf('docs/catalog.md')
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => parse(text) as Catalog)
  .find(({ providers }) => providers.some(({ id }) => id === 'azure'))!

const servers = new Map<string, ShapedServer>()
/** The variables that the catalog names, with a value that says whose it is. */
const variables = new Map<string, string>()
let gateway: TestGateway
let account: TestAccount

beforeAll(async () => {
  for (const provider of example.providers) {
    const server = startShapedServer(provider.id)
    servers.set(provider.id, server)
    const { pathname, search } = new URL(provider.base_url)
    provider.base_url = server.origin + pathname.replace(/\/$/, '') + search
  }
  for (const [, name = ''] of JSON.stringify(example).matchAll(/"env:(\w+)"/g)) {
    variables.set(name, `value-of-${name}`)
    process.env[name] = `value-of-${name}`
  }
  gateway = await startTestGateway({ catalog: JSON.stringify(example) })
  account = await gateway.account()
})

afterAll(async () => {
  await gateway.stop()
  for (const server of servers.values()) server.stop()
  for (const name of variables.keys()) delete process.env[name]
})

const ids = Object.keys(providerShapes) as (keyof typeof providerShapes)[]

test('no example of docs/catalog.md has a provider that bills more than its rows price or refuse', () => {
  const examples = snippetsOf('docs/catalog.md').filter(({ language }) => language === 'yaml')
  for (const { text } of examples) {
    const file = parseCatalogFile(text)
    if (!file.ok) throw new Error(`This example is not a catalog: ${text}`)
    const { providers, models } = file.catalog
    const catalog = {
      ...EMPTY_CATALOG,
      providers: new Map(providers.map(row => [row.id, row as CatalogProvider])),
      models: new Map(models.map(row => [row.id, row as Model])),
    }

    expect(unpricedFeatures(catalog)).toEqual([])
  }
})

test('docs/catalog.md shows a row and a model of each provider', () => {
  expect(example.providers.map(({ id }) => id)).toEqual(ids)
  expect(example.models.map(({ upstreams: [{ provider }] }) => provider)).toEqual(ids)
})

async function ask(id: string, body: object): Promise<Response> {
  const model = example.models.find(({ upstreams: [{ provider }] }) => provider === id)!.id
  const path = id === 'anthropic' ? 'messages' : 'chat/completions'
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: 200, messages: [{ role: 'user', content: 'Hello' }], ...body }),
  })
}

async function lastCharge() {
  const response = await fetch(`${gateway.url}/v1/usage?limit=1`, { headers: { 'x-api-key': account.key } })
  const { data } = (await response.json()) as {
    readonly data: readonly { readonly usage: object; readonly cost_usd: string; readonly source: string }[]
  }
  return data[0]!
}

describe('the documented row of a provider', () => {
  test.each(ids)('%s: its URL, its query and its key are what the provider expects', async id => {
    const { request } = providerShapes[id]

    const response = await ask(id, {})
    await response.text()

    expect(response.status).toBe(200)
    const sent = servers.get(id)!.requests.at(-1)
    expect(sent).toMatchObject(request)
    // Google refuses a request with its key in two headers.
    expect('authorization' in sent!.headers).toBe('authorization' in request.headers)
  })

  test.each(ids)('%s: an error that repeats its headers shows no secret', async id => {
    const response = await ask(id, { temperature: REFUSED_TEMPERATURE })

    const text = await response.text()
    expect([response.status, text]).toEqual([400, expect.stringContaining('Not with')])
    for (const value of variables.values()) expect(text).not.toContain(value)
  })

  test.each(ids)('%s: the usage of its reply is charged, and the reply passes through', async id => {
    const { reply, charged } = providerShapes[id]

    const response = await ask(id, {})
    const body = (await response.json()) as Readonly<Record<string, unknown>>

    const charge = await lastCharge()
    expect(charge).toMatchObject({ source: 'reported', cost_usd: charged.cost_usd, usage: charged.usage })
    const { model, usage, ...rest } = reply as Readonly<Record<string, unknown>>
    expect(body).toMatchObject(rest)
    expect(body['usage']).toEqual({ ...(usage as object), cost_usd: charged.cost_usd })
    expect(body['model']).not.toBe(model)
  })

  test.each(ids)('%s: the usage of its stream is charged', async id => {
    const { charged } = providerShapes[id]

    const response = await ask(id, { stream: true })
    const text = await response.text()

    expect(text).toContain('Hi')
    expect(await lastCharge()).toMatchObject({ source: 'reported', cost_usd: charged.cost_usd })
  })

  test.each(ids)('%s: a wrong key is found by doctor, and is not shown', async id => {
    const before = await gateway.admin<{
      readonly checks: readonly { readonly name: string; readonly ok: boolean }[]
    }>('GET', 'doctor')
    servers.get(id)!.changeKey()
    const after = await gateway.admin<typeof before>('GET', 'doctor')

    const name = `provider ${id}`
    expect(before.checks.find(check => check.name === name)).toMatchObject({ ok: true })
    // Ollama takes every key.
    expect(after.checks.find(check => check.name === name)?.ok).toBe(id === 'ollama')
    for (const value of variables.values()) expect(JSON.stringify(after)).not.toContain(value)
  })
})
