import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Ask } from '../../../src/cli/ask.ts'
import {
  assignPriceList,
  listPriceLists,
  removePriceList,
  setPriceList,
  showPriceList,
} from '../../../src/cli/commands/catalog/prices.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { rejection } from '../../support/rejection.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { startImageGateway } from '../gateways/image-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'

const CATALOGS = ['/cabinet/api/public/models', '/cabinet/api/public/media-models'] as const
const PRICED = ['/v1/models', ...CATALOGS] as const

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('other', { pricing: { input_per_mtok: '1', output_per_mtok: '1' } }),
      chatModel('resold', {
        pricing: 'upstream_cost',
        markup: '1.5',
        ceiling_pricing: { input_per_mtok: '10', output_per_mtok: '50' },
      }),
      {
        id: 'draw',
        kind: 'image',
        upstreams: [{ provider: 'kling', model: 'k' }],
        pricing: { per_image: '0.04' },
      },
    ],
    provider: { cost_field: 'usage.cost' },
    providers: () => [
      { id: 'kling', kind: 'openai-images', base_url: 'https://images.example.com/v1', api_key: 'k' },
    ],
    environment: { TOLLGATE_REPLAY_TTL_S: '60' },
  })
})
afterAll(() => gateway.stop())
afterEach(() => expectNothingHeld(gateway, ada))

const put = (id: string, list: object) => gateway.admin('PUT', `price-lists/${id}`, list)
const assign = (account: TestAccount, list: string | null) =>
  gateway.admin<{ price_list: string | null }>('PATCH', `accounts/${account.id}`, { price_list: list })

async function anAccountWith(list: string | null): Promise<TestAccount> {
  ada = await gateway.account()
  if (list !== null) await assign(ada, list)
  return ada
}

/** What a request of 1,000,000 input tokens and 100,000 output tokens costs. */
async function costOf(account: TestAccount, model: string, content: string = crypto.randomUUID()) {
  gateway.upstream.reply(
    chatAnswer({ usage: { prompt_tokens: 10_000, completion_tokens: 1000, cost: 0.01 } }),
  )
  const response = await gateway.chat(account.key, { model, messages: [{ role: 'user', content }] })
  await response.text()
  return response.headers.get('x-service-cost-usd')
}

type Listed = { readonly data: readonly { readonly id: string; readonly pricing: unknown }[] }

async function priceIn(path: string, key: string | undefined, model = 'gpt-x'): Promise<unknown> {
  const response = await fetch(gateway.url + path, { headers: key === undefined ? {} : { 'x-api-key': key } })
  return ((await response.json()) as Listed).data.find(({ id }) => id === model)?.pricing
}

describe('an account with a price list', () => {
  test('an account with a price list pays its prices, and other accounts pay those of the catalog', async () => {
    await put('partner', { factor: '0.8', prices: { other: { input_per_mtok: '3', output_per_mtok: '0' } } })
    const cleo = await anAccountWith(null)
    await anAccountWith('partner')

    const costs = [await costOf(ada, 'gpt-x'), await costOf(ada, 'other'), await costOf(ada, 'resold')]
    const others = [await costOf(cleo, 'gpt-x'), await costOf(cleo, 'other'), await costOf(cleo, 'resold')]

    expect(costs).toEqual(['0.024', '0.03', '0.012'])
    expect(others).toEqual(['0.03', '0.011', '0.015'])
    expect(await ada.balance()).toMatchObject({ available_usd: '9.934', held_usd: '0' })
  })

  test('an account with a price list has its worst case held at the prices of the list', async () => {
    await put('dear', { factor: '10' })
    await anAccountWith('dear')
    const held = gateway.upstream.hold()

    const pending = gateway.chat(ada.key, { model: 'gpt-x', max_tokens: 1000, messages: [] })
    const exchange = await held
    const { held_usd } = await ada.balance()
    await chatAnswer({ usage: { prompt_tokens: 1, completion_tokens: 1 } })(exchange)
    await (await pending).text()

    expect(Number(held_usd)).toBeGreaterThanOrEqual(0.1)
    expect(Number(held_usd)).toBeLessThan(0.11)
  })

  test('an account with a price list pays the prices of the admission if the list changes while a request runs', async () => {
    await put('moving', { factor: '0.5' })
    await anAccountWith('moving')
    const held = gateway.upstream.hold()
    const pending = gateway.chat(ada.key, { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] })
    const exchange = await held

    await put('moving', { factor: '9' })
    await chatAnswer({ usage: { prompt_tokens: 10, completion_tokens: 100 } })(exchange)
    await (await pending).text()

    expect(await settlementOf(gateway, ada)).toMatchObject({ cost_usd: '0.00051' })
    expect(await costOf(ada, 'gpt-x')).toBe('0.27')
  })

  test('an account with a price list never gets an answer that another account paid for', async () => {
    await put('partner', { factor: '0.8' })
    const cleo = await anAccountWith(null)
    await anAccountWith('partner')

    const costs = [await costOf(cleo, 'gpt-x', 'the same'), await costOf(ada, 'gpt-x', 'the same')]

    expect(costs).toEqual(['0.03', '0.024'])
  })

  test('an account with a price list gets the prices of the catalog again when the list is taken away', async () => {
    await put('partner', { factor: '0.8' })
    await anAccountWith('partner')

    const changed = await assign(ada, null)

    expect(changed.price_list).toBeNull()
    expect(await costOf(ada, 'gpt-x')).toBe('0.03')
  })
})

describe('the catalogs of prices', () => {
  test.each(CATALOGS)(
    '%s has the prices of the account of a key, and the default prices without one',
    async path => {
      await put('half', { factor: '0.5' })
      await anAccountWith('half')
      const cleo = await gateway.account()
      const model = path.includes('media') ? 'draw' : 'gpt-x'

      const prices = [ada.key, cleo.key, undefined, 'tg_live_unknown'].map(key => priceIn(path, key, model))

      const regular =
        model === 'draw' ? { per_image: '0.04' } : { input_per_mtok: '2', output_per_mtok: '10' }
      const half = model === 'draw' ? { per_image: '0.02' } : { input_per_mtok: '1', output_per_mtok: '5' }
      expect(await Promise.all(prices)).toEqual([half, regular, regular, regular])
    },
  )

  test('/v1/models and /v1/models/{id} have the prices of the account', async () => {
    await put('half', { factor: '0.5' })
    await anAccountWith('half')

    const one = await gateway.read<{ pricing: unknown }>(ada.key, '/v1/models/gpt-x')

    expect(await priceIn('/v1/models', ada.key)).toEqual({ input_per_mtok: '1', output_per_mtok: '5' })
    expect(one.pricing).toEqual({ input_per_mtok: '1', output_per_mtok: '5' })
  })

  test.each(PRICED)('%s must not be kept by a shared cache for a request with a key', async path => {
    await anAccountWith(null)

    const { headers } = await fetch(gateway.url + path, { headers: { 'x-api-key': ada.key } })

    expect(headers.get('cache-control')).toStartWith('private')
    expect(headers.get('vary')).toBe('authorization, x-api-key, api-key')
  })

  test.each(CATALOGS)('%s is 304 only for the prices that the client has', async path => {
    await put('half', { factor: '0.5' })
    await anAccountWith('half')
    const read = (key: string | undefined, etag = '') =>
      fetch(gateway.url + path, { headers: { 'if-none-match': etag, ...(key && { 'x-api-key': key }) } })
    const [own, regular] = [
      (await read(ada.key)).headers.get('etag')!,
      (await read(undefined)).headers.get('etag')!,
    ]

    const statuses = [
      await read(ada.key, own),
      await read(ada.key, regular),
      await read(undefined, own),
      await read(undefined, regular),
    ].map(({ status }) => status)

    expect(own).not.toBe(regular)
    expect(statuses).toEqual([304, 200, 200, 304])
  })

  test('the catalogs of prices have the new prices with the next request after a change of the list', async () => {
    await put('moving', { factor: '0.5' })
    await anAccountWith('moving')
    await priceIn('/v1/models', ada.key)

    await put('moving', { factor: '2' })

    expect(await priceIn('/v1/models', ada.key)).toEqual({ input_per_mtok: '4', output_per_mtok: '20' })
  })
})

describe('a change of a price list', () => {
  test('a change of a price list has a preview, with each price and an example, and then changes nothing', async () => {
    await put('seen', { factor: '0.5' })
    await anAccountWith('seen')

    const preview = await gateway.admin<{ is_new: boolean; changes: readonly object[] }>(
      'PUT',
      'price-lists/seen?dry_run=true',
      { factor: '0.6', prices: { draw: { per_image: '0.02' } } },
    )

    expect(preview.is_new).toBe(false)
    expect(preview.changes).toHaveLength(3)
    expect(preview.changes[0]).toEqual({
      model: 'gpt-x',
      kind: 'chat',
      before: { pricing: { input_per_mtok: '1', output_per_mtok: '5' } },
      after: { pricing: { input_per_mtok: '1.2', output_per_mtok: '6' } },
      example: {
        of: '1,000 input tokens and 500 output tokens',
        before_usd: '0.0035',
        after_usd: '0.0042',
      },
    })
    expect(await gateway.admin<object>('GET', 'price-lists/seen')).toEqual({ id: 'seen', factor: '0.5' })
  })

  test('a change of a price list is in the history of the catalog, and a rollback undoes it', async () => {
    await put('kept', { factor: '0.5' })
    const { revision } = await gateway.admin<{ revision: number }>('GET', 'catalog')
    await put('kept', { factor: '0.7' })
    await anAccountWith('kept')

    const { data } = await gateway.admin<{ data: readonly object[] }>('GET', 'catalog/history')
    const preview = await gateway.admin<{ changes: unknown }>('POST', 'catalog/rollback?dry_run=true', {
      revision,
    })
    await gateway.admin('POST', 'catalog/rollback', { revision })

    expect(data[0]).toMatchObject({
      action: 'price_list.put',
      subject: 'kept',
      changes: [{ kind: 'price_list', id: 'kept', change: 'changed' }],
    })
    expect(preview.changes).toMatchObject([
      { kind: 'price_list', id: 'kept', fields: [{ field: 'factor', before: '0.7', after: '0.5' }] },
    ])
    expect(await costOf(ada, 'gpt-x')).toBe('0.015')
  })

  test.each<[string, string, string, object | undefined, RegExp]>([
    [
      'a list in use',
      'DELETE',
      'price-lists/used',
      undefined,
      /Price list "used" is the list of these accounts: .*"account \d+"/,
    ],
    [
      'an unknown list',
      'DELETE',
      'price-lists/usde',
      undefined,
      /There is no price list "usde". Did you mean "used"/,
    ],
    [
      'a model with its own price',
      'DELETE',
      'models/other',
      undefined,
      /own price in these price lists: "used"/,
    ],
    [
      'an unknown model',
      'PUT',
      'price-lists/x',
      { prices: { 'gpt-y': 'free' } },
      /prices.gpt-y is the price of a model/,
    ],
    [
      'a price of another kind',
      'PUT',
      'price-lists/x',
      { prices: { draw: 'free' } },
      /the model is of kind image/,
    ],
    ['a negative factor', 'PUT', 'price-lists/x', { factor: '-1' }, /factor is "-1/],
    ['a percentage', 'PUT', 'price-lists/x', { factor: '80' }, /above 0 and at most 10/],
    [
      'a preview of an unknown model',
      'PUT',
      'price-lists/x?dry_run=true',
      { prices: { y: 'free' } },
      /prices.y is/,
    ],
    ['another id than in the path', 'PUT', 'price-lists/x', { id: 'y', factor: '1' }, /must be "x/],
  ])('a change of a price list is refused for %s', async (_, method, path, body, message) => {
    await put('used', { factor: '0.5', prices: { other: 'free' } })
    await anAccountWith('used')

    const refusal = String(await rejection(gateway.admin(method, path, body)))
    expect(refusal.replaceAll('\\"', '"')).toMatch(message)
  })

  test('an account cannot get a price list that does not exist', async () => {
    await anAccountWith(null)

    expect(String(await rejection(assign(ada, 'nothing')))).toContain('There is no price list')
  })

  test('a catalog file without price lists keeps them, and one with an empty list removes those that no account has', async () => {
    const fresh = await startScriptedGateway()
    await fresh.admin('PUT', 'price-lists/partner', { factor: '0.8' })
    const { providers, models } = await fresh.admin<{ providers: object[]; models: object[] }>(
      'GET',
      'catalog',
    )

    const kept = await fresh.admin<object>('PUT', 'catalog', { providers, models })
    const removed = await fresh.admin<object>('PUT', 'catalog', { providers, models, price_lists: [] })

    expect(kept).toMatchObject({ price_lists: [{ id: 'partner', factor: '0.8' }] })
    expect(removed).not.toHaveProperty('price_lists')
    await fresh.stop()
  })
})

test('an image is charged at the prices of the list of the account', async () => {
  const images = await startImageGateway()
  const ben = await images.account({ grant: '1' })
  await images.admin('PUT', 'price-lists/partner', { factor: '0.75' })
  await images.admin('PATCH', `accounts/${ben.id}`, { price_list: 'partner' })

  const body = await images.created(ben.key, { n: 2 })

  expect(body.cost_usd).toBe('0.06')
  expect(await images.money(ben)).toEqual({ available: '0.94', held: '0' })
  await images.verify()
  await images.stop()
})

test('the command line sets, shows, assigns and removes a price list', async () => {
  await anAccountWith(null)
  const ask: Ask = ({ method, path, json }) => gateway.admin(method, path, json)

  const preview = await setPriceList(ask, { name: 'cli', factor: '0.9', dryRun: true })
  await setPriceList(ask, { name: 'cli', factor: '0.9' })
  await setPriceList(ask, { name: 'cli', price: [{ model: 'other', price: 'free' }] })
  const shown = await showPriceList(ask, 'cli')
  const listed = await listPriceLists(ask)
  const assigned = await assignPriceList(ask, { account: ada.id, list: 'cli' })
  await assignPriceList(ask, { account: ada.id, list: 'none' })
  const removed = await removePriceList(ask, 'cli')

  expect(preview.text).toContain(
    'gpt-x: input_per_mtok 2, output_per_mtok 10 → input_per_mtok 1.8, output_per_mtok 9\n' +
      '    1,000 input tokens and 500 output tokens: 0.007 USD → 0.0063 USD',
  )
  expect(preview.text).toEndWith('Nothing was changed yet.')
  expect(shown.text).toStartWith('cli: all prices × 0.9\n')
  expect(shown.text).toContain('other: input_per_mtok 1, output_per_mtok 1 → free')
  expect(listed.text).toMatch(/cli +0\.9 +other/)
  expect(assigned.text).toMatch(/has the prices of cli\.$/)
  expect(removed.text).toBe('Removed price list cli.')
})
