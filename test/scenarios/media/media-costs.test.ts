import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { MediaResult } from '../../../src/gateway/ports/providers/media-provider.ts'
import { usd } from '../../../src/domain/money.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { rejection } from '../../support/rejection.ts'
import { RUNNING } from '../../support/scripted-media.ts'
import { images, imageModel, startScriptedImages, type MediaError } from '../gateways/image-gateway.ts'

const tokenPricing = {
  text_input_per_mtok: '5',
  image_input_per_mtok: '10',
  image_output_per_mtok: '40',
  max_per_image: '0.25',
}

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedImages({
    models: [
      imageModel('draw-tokens', {
        pricing: tokenPricing,
        provider_prices: {
          text_input_per_mtok: '2',
          image_input_per_mtok: '4',
          image_output_per_mtok: '16',
        },
      }),
    ],
  })
  ada = await gateway.account({ grant: '100' })
})
afterAll(async () => {
  await gateway.verify()
  await gateway.stop()
})

type Shown = {
  readonly id: string
  readonly state: string
  readonly cost_usd: string | null
  readonly provider_cost_usd: string | null
}
const show = (id: string) => gateway.admin<Shown>('GET', `jobs/${id}`)

async function newestJob(): Promise<Shown> {
  const { data } = await gateway.admin<{ data: readonly Shown[] }>('GET', 'jobs?limit=1')
  return show(data[0]!.id)
}

describe('a model that is priced by the tokens of the answer', () => {
  const NO_TOKENS = { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 }
  const tokens = { ...NO_TOKENS, textInput: 50, imageOutput: 4160 }

  test.each<[string, Partial<MediaResult>, string, string | null]>([
    ['the exact price of the tokens', { tokens }, '0.16665', '0.06666'],
    ['at most the highest price', { tokens: { ...tokens, imageOutput: 9000 } }, '0.25', '0.1441'],
    ['the highest price if no tokens are reported', {}, '0.25', null],
    ['the highest price if all counts of tokens are 0', { tokens: NO_TOKENS }, '0.25', null],
  ])(
    'a model that is priced by the tokens of the answer charges %s',
    async (_, change, cost, providerCost) => {
      gateway.media.submitted = images(['one'], change)

      const { cost_usd: charged } = await gateway.created(ada.key, { model: 'draw-tokens' })

      expect(charged).toBe(cost)
      expect(await newestJob()).toMatchObject({ cost_usd: cost, provider_cost_usd: providerCost })
    },
  )

  test('a model that is priced by the tokens of the answer lists the tokens and the provider cost of a charge', async () => {
    gateway.media.submitted = images(['one'], { tokens })
    await gateway.created(ada.key, { model: 'draw-tokens' })

    const { data } = await gateway.admin<{
      data: readonly { readonly usage: object; readonly provider_cost_usd: string }[]
    }>('GET', 'usage?limit=1')

    expect(data[0]?.provider_cost_usd).toBe('0.06666')
    expect(data[0]?.usage).toEqual({
      images: 1,
      text_input_tokens: 50,
      image_input_tokens: 0,
      text_output_tokens: 0,
      image_output_tokens: 4160,
    })
  })

  test('a model that is priced by the tokens of the answer reserves the highest price of the images asked for', async () => {
    gateway.media.submitted = undefined
    gateway.media.polled = RUNNING

    const { estimated_cost_usd: reserved } = await gateway.running(ada.key, { model: 'draw-tokens', n: 3 })

    expect(reserved).toBe('0.75')
  })

  test('a model that is priced by the tokens of the answer shows its prices in the public catalog, and not those of its provider', async () => {
    const response = await fetch(`${gateway.url}/cabinet/api/public/media-models`)
    const { data } = (await response.json()) as { data: readonly { readonly id: string }[] }

    const model = data.find(({ id }) => id === 'draw-tokens')
    expect(model).toMatchObject({ pricing: tokenPricing })
    expect(model).not.toHaveProperty('provider_prices')
  })
})

type Loss = {
  readonly id: string
  readonly reason: string
  readonly loss_usd: string
  readonly provider_cost_usd: string
}
const losses = (query = '') =>
  gateway.admin<{ readonly data: readonly Loss[]; readonly next: string | null }>('GET', `losses${query}`)

describe('a provider that bills work without a result', () => {
  const providerCost = usd('0.25')

  test('a refused submission that its provider bills costs the customer nothing, and the job keeps the cost', async () => {
    gateway.media.submitted = {
      outcome: 'rejected',
      reason: 'invalid',
      status: 200,
      message: 'No image.',
      tokens: { textInput: 1000, imageInput: 0, textOutput: 500, imageOutput: 0 },
    }
    const before = await gateway.money(ada)

    const response = await gateway.create(ada.key, { model: 'draw-tokens' })

    const { id, cost_usd: cost } = (await response.json()) as MediaError
    expect([response.status, cost]).toEqual([400, '0'])
    // 1,000 × 2 + 500 × 16 per million: without a price of its own, text costs as much as the image.
    expect(await show(id!)).toMatchObject({ state: 'failed', provider_cost_usd: '0.01' })
    expect(await gateway.money(ada)).toEqual(before)
  })

  test('a failed job that its provider bills costs the customer nothing, and the job keeps the cost', async () => {
    gateway.media.submitted = undefined
    gateway.media.polled = RUNNING
    const before = await gateway.money(ada)
    const { id } = await gateway.running(ada.key)
    gateway.media.polled = { outcome: 'failed', code: 'SAFETY', message: 'Refused.', providerCost }

    const { status, cost_usd: cost } = await gateway.poll(ada.key, id)

    expect([status, cost]).toEqual(['failed', '0'])
    expect(await show(id)).toMatchObject({ provider_cost_usd: '0.25' })
    expect(await gateway.money(ada)).toEqual(before)
  })

  test('the price of a billed result that is not an image is a loss, and the job keeps the cost', async () => {
    gateway.media.submitted = {
      outcome: 'finished',
      result: {
        outputs: [{ from: 'bytes', bytes: new TextEncoder().encode('<html>') }],
        isCounted: true,
        providerCost,
      },
    }

    const response = await gateway.create(ada.key)

    const { id } = (await response.json()) as MediaError
    expect(response.status).toBe(502)
    expect(await show(id!)).toMatchObject({ loss_usd: '0.04', provider_cost_usd: '0.25' })
  })

  test('billed work without a result is in the list of losses, newest first, in pages', async () => {
    const { data } = await losses()
    const first = await losses('?limit=2')
    const second = await losses(`?limit=2&cursor=${first.next}`)

    expect(data.map(({ reason, loss_usd: loss, provider_cost_usd: cost }) => [reason, loss, cost])).toEqual([
      ['result_lost', '0.04', '0.25'],
      ['generation_failed', '0', '0.25'],
      ['rejected', '0', '0.01'],
    ])
    expect([...first.data, ...second.data]).toEqual([...data])
    expect(second.next).toBeNull()
  })

  test.each(['r1', 'l1x1', ''])('the list of losses refuses the cursor %j', async cursor => {
    const error = await rejection(gateway.admin('GET', `losses?cursor=${cursor}`))

    expect(String(error)).toContain('cursor')
  })
})
