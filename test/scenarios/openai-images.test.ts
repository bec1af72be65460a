import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../support/gateway.ts'
import { imageModel, images, startScriptedImages, type MediaError } from './image-gateway.ts'

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount

const models = [
  imageModel('draw-known', { params: { aspect_ratio: ['1:1', '3:2', '2:3'], resolution: ['1K'] } }),
]

async function start(setting: 'on' | 'off'): Promise<void> {
  gateway = await startScriptedImages({ models, environment: { TOLLGATE_OPENAI_MEDIA: setting } })
  ada = await gateway.account({ grant: '1' })
}
afterEach(() => gateway.stop())

describe('with TOLLGATE_OPENAI_MEDIA=off', () => {
  beforeEach(() => start('off'))

  test('a size is dropped if the image model has none, as in the contract', async () => {
    gateway.media.submitted = finished()

    await gateway.created(ada.key, { model: 'draw-known', size: '1536x1024' })

    expect(gateway.media.submits[0]?.params).toEqual({ aspect_ratio: '1:1', resolution: '1K' })
  })
})

describe('with TOLLGATE_OPENAI_MEDIA=on', () => {
  beforeEach(() => start('on'))

  test('the size of an image request reaches the provider as an aspect ratio and a resolution', async () => {
    gateway.media.submitted = finished()

    await gateway.created(ada.key, { model: 'draw-known', size: '1536x1024' })

    expect(gateway.media.submits[0]?.params).toEqual({ aspect_ratio: '3:2', resolution: '1K' })
  })

  test('a size that the image model does not make is refused without a charge', async () => {
    const response = await gateway.create(ada.key, { model: 'draw-known', size: '2048x2048' })

    const { error } = (await response.json()) as MediaError
    expect(response.status).toBe(400)
    expect(error).toMatchObject({ code: 'invalid_field', param: 'size' })
    expect(error.message).toContain('1024x1024, 1536x1024, 1024x1536')
    expect(gateway.media.submits).toEqual([])
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
  })
})

/** The answer to a submission that has its images at once. */
function finished() {
  return images(['one'])
}
