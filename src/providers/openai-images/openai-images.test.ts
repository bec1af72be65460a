import { describe, expect, test } from 'bun:test'
import {
  KEY_UNDER_TEST,
  mediaProviderConforms,
  type MediaFault,
  type MediaUnderTest,
} from '../../../test/conformance/media-provider.ts'
import { until } from '../../../test/support/until.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { literalSecret, openAiImagesProvider } from '../../../test/support/media-providers.ts'
import {
  inMemory,
  overSockets,
  type ConnectSimulator,
} from '../../../test/support/simulators/connect-simulator.ts'
import {
  OpenAiImagesSimulator,
  type ImageBehaviorName,
} from '../../../test/support/simulators/openai-images.ts'
import { refusedUrl } from '../../../test/support/upstream.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { openAiImages } from './openai-images.ts'

const behaviors = {
  rejected: 'moderation_blocked',
  rejected_408: 'status_408',
  rejected_409: 'status_409',
  rate_limited: 'rate_limit',
  key_refused: 'invalid_key',
  no_credit: 'insufficient_quota',
  no_id: 'error_in_success',
  html: 'image_html',
  truncated: 'image_truncated',
  empty: 'image_empty',
  server_error_accepted: 'image_504',
  server_error: 'server_error',
  reply_lost: 'image_reset',
  silent: 'image_silence',
} as const satisfies Partial<Record<MediaFault, ImageBehaviorName>>
const scripted: Partial<Record<MediaFault, ImageBehaviorName>> = behaviors
const faults = [...(Object.keys(behaviors) as (keyof typeof behaviors)[]), 'refused_connection' as const]

describe.each<[string, ConnectSimulator]>([
  ['without a network', inMemory],
  ['over sockets', overSockets],
])('openai-images %s', (_, connect) => {
  mediaProviderConforms(() => openImages(connect), {
    faults,
    isSynchronous: true,
    makesVideos: false,
    hasKey: true,
  })
})

async function openImages(connect: ConnectSimulator): Promise<MediaUnderTest> {
  const clock = fakeClock()
  const simulator = new OpenAiImagesSimulator(KEY_UNDER_TEST)
  const { url, send, close } = await connect(request => simulator.handle(request), clock)
  let submitsBefore = 0
  return {
    provider: openAiImages({ send, secretOf: literalSecret }),
    call(fault) {
      submitsBefore = simulator.ledger().length
      const behavior = fault && scripted[fault]
      if (behavior !== undefined) simulator.script(behavior)
      const baseUrl = fault === 'refused_connection' ? refusedUrl() : `${url}/v1`
      return aSubmitCall(openAiImagesProvider(baseUrl, KEY_UNDER_TEST))
    },
    submits: () => simulator.ledger().length,
    async passTimeout({ timeoutMs }) {
      await until(
        'the provider has the request',
        () => simulator.ledger().length > submitsBefore && clock.waiting > 0,
      )
      clock.advance(timeoutMs)
    },
    finishJobs: async () => {},
    close,
  }
}

describe('openai-images', () => {
  const KEY = 'sk-images-1'

  async function open(change: Partial<SubmitCall> = {}) {
    const simulator = new OpenAiImagesSimulator(KEY)
    const { url, send } = await inMemory(request => simulator.handle(request), fakeClock())
    const provider = openAiImages({ send, secretOf: literalSecret })
    const call = aSubmitCall(openAiImagesProvider(`${url}/v1`, KEY), { model: 'gpt-image-2', ...change })
    return { simulator, provider, call }
  }

  test('openai-images generates without an input image, and edits with one', async () => {
    const generation = await open()
    const edit = await open({ images: [bytesInput(new Uint8Array([1, 2, 3]))] })

    await generation.provider.submit(generation.call)
    await edit.provider.submit(edit.call)

    expect(generation.simulator.ledger()[0]).toMatchObject({ path: '/v1/images/generations' })
    expect(edit.simulator.ledger()[0]?.path).toBe('/v1/images/edits')
    expect(edit.simulator.ledger()[0]?.body).toStartWith(`--tollgate-${edit.call.jobId}\r\n`)
  })

  test('openai-images returns no image if the provider made none', async () => {
    const { simulator, provider, call } = await open()
    simulator.script('no_image')

    expect(await provider.submit(call)).toEqual({
      outcome: 'finished',
      result: { outputs: [], isCounted: true },
    })
  })

  test("openai-images reports an error about the account as the operator's trouble", async () => {
    const { simulator, provider, call } = await open()
    simulator.script('billing_hard_limit')

    expect(await provider.submit(call)).toMatchObject({
      reason: 'operator',
      status: 400,
      code: 'billing_hard_limit_reached',
    })
  })

  test('openai-images follows no redirect', async () => {
    const { simulator, provider, call } = await open()
    simulator.script('redirect')

    expect(await provider.submit(call)).toMatchObject({
      outcome: 'rejected',
      reason: 'operator',
      status: 302,
    })
    expect(simulator.ledger().length).toBe(1)
  })

  test.each([
    [
      'https://api.example.com/files/1.png',
      { hosts: ['api.example.com'], headers: { authorization: `Bearer ${KEY}` } },
    ],
    ['https://cdn.example.com/files/1.png', undefined],
    ['https://api.example.com.evil.example/1.png', undefined],
    ['http://api.example.com/files/1.png', undefined],
    ['https://api.example.com:8443/1.png', undefined],
    ['/files/1.png', undefined],
  ])(
    'openai-images adds the key to a link to %s only if it is its own server',
    async (url, authorization) => {
      const body = JSON.stringify({ data: [{ url }] })
      const provider = openAiImages({
        send: async () => ({ reply: 'answer', status: 200, headers: {}, body }),
        secretOf: literalSecret,
      })

      const outcome = await provider.submit(
        aSubmitCall(openAiImagesProvider('https://api.example.com/v1', KEY)),
      )

      const output = authorization === undefined ? { from: 'url', url } : { from: 'url', url, authorization }
      expect(outcome).toEqual({
        outcome: 'finished',
        result: { outputs: [output], isCounted: true },
      } as typeof outcome)
    },
  )

  test.each<[string, Partial<SubmitCall>]>([
    ['makes a video', { kind: 'video' }],
    [
      'lacks its key',
      { provider: { ...openAiImagesProvider('https://api.example.com'), secret: { from: 'lost' } } },
    ],
    ['has no base URL', { provider: openAiImagesProvider('') }],
  ])('openai-images sends nothing for a row that %s', async (_, change) => {
    const { simulator, provider, call } = await open(change)

    expect(await provider.submit(call)).toMatchObject({ outcome: 'rejected', reason: 'operator' })
    expect(simulator.ledger()).toEqual([])
  })

  test('openai-images reports a job of another kind of provider as unavailable', async () => {
    const { provider, call } = await open()

    expect(await provider.poll(accepted(call, 'text2video/1'))).toMatchObject({ outcome: 'unavailable' })
  })
})
