import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import type { SubmitCall } from '../../gateway/ports/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import { submitBody } from './submit-body.ts'

const row = mediaProviderRow('seedance', 'http://127.0.0.1')
const bytes = bytesInput(new Uint8Array([1, 2, 3]), 'image/webp')
const link = { from: 'url', url: 'https://example.com/a.png' } as const
const id = { from: 'provider_id', id: 'asset-123' } as const

const aCall = (change: Partial<SubmitCall>) =>
  aSubmitCall(row, { kind: 'video', model: 'seedance-2-0', ...change })

async function bodyOf(change: Partial<SubmitCall>): Promise<Record<string, unknown>> {
  const body = submitBody(aCall(change))
  if ('refusal' in body) throw new Error(body.refusal)
  return JSON.parse((await bytesOf(joinedBody(body).stream)).toString()) as Record<string, unknown>
}

async function textOf(change: Partial<SubmitCall>): Promise<unknown> {
  const [text] = (await bodyOf(change))['content'] as { text: string }[]
  return text?.text
}

describe('a submit', () => {
  test('has the prompt in the list of contents, and the parameters beside it', async () => {
    const params = {
      aspect_ratio: '16:9',
      resolution: '720p',
      generate_audio: true,
      callback_url: 'x',
      execution_expires_after: 1,
      frames: 29,
    }

    expect(await bodyOf({ params, durationMs: 5000, count: 4 })).toEqual({
      model: 'seedance-2-0',
      content: [{ type: 'text', text: 'A lighthouse at dawn' }],
      ratio: '16:9',
      resolution: '720p',
      generate_audio: true,
      duration: 5,
    })
  })

  test('has the first and the last frame as a data URL, a link or an id', async () => {
    expect(await bodyOf({ images: [bytes, link], videos: [id] })).toMatchObject({
      content: [
        { type: 'text' },
        { type: 'image_url', image_url: { url: 'data:image/webp;base64,AQID' }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: link.url }, role: 'last_frame' },
        { type: 'video_url', video_url: { url: 'asset-123' }, role: 'reference_video' },
      ],
    })
  })

  test.each([
    [[bytes, link, id], {}],
    [[link], { image_role: 'reference' }],
  ])('has more images, or all with the role, as references', async (images, params) => {
    const body = await bodyOf({ images, params })

    const [, ...others] = body['content'] as { role: string }[]
    expect(new Set(others.map(({ role }) => role))).toEqual(new Set(['reference_image']))
    expect(body).not.toHaveProperty('image_role')
  })

  test('to a model of the first version has the fields as commands behind the prompt', async () => {
    const params = { aspect_ratio: '16:9', resolution: '720p', camera_fixed: false, service_tier: 'flex' }

    expect(await bodyOf({ model: 'seedance-1-0-lite-t2v-250428', params, durationMs: 5000 })).toEqual({
      model: 'seedance-1-0-lite-t2v-250428',
      content: [
        {
          type: 'text',
          text: 'A lighthouse at dawn --resolution 720p --ratio 16:9 --duration 5 --camerafixed false',
        },
      ],
      service_tier: 'flex',
    })
  })

  test.each([
    ['A bay --duration 12', 'A bay -duration 12'],
    ['A bay ---seed x-dur 12', 'A bay -seed x-dur 12'],
    ['--RATIO 9:16 A bay --dur12 --rs1080p', '-RATIO 9:16 A bay -dur12 -rs1080p'],
    ['A bay -- and fog ', 'A bay - and fog '],
  ])('to a model that reads commands has none of the client: %j', async (prompt, sent) => {
    expect(await textOf({ prompt, model: 'ep-20250101-abcde' })).toBe(sent)
    expect(await textOf({ prompt, model: 'seedance-1-5-pro' })).toBe(sent)
    expect(await textOf({ prompt, model: 'seedance-1-0-pro', durationMs: 5000 })).toBe(`${sent} --duration 5`)
  })

  test('to a model that reads commands has no command of the client for any prompt', async () => {
    const pieces = fc.constantFrom('-', '--', '---', 'dur', 'rs', 'seed', '12', '1080p', ' ', '\t', 'x')
    const prompts = fc.array(pieces, { maxLength: 12 }).map(texts => texts.join(''))

    await fc.assert(
      fc.asyncProperty(prompts, async prompt => {
        expect(await textOf({ prompt, model: 'ep-1' })).not.toContain('--')
        const text = await textOf({ prompt, model: 'seedance-1-0-pro', durationMs: 5000 })
        expect(String(text).split('--')).toEqual([expect.any(String), 'duration 5'])
      }),
    )
  })

  test('to a model that reads no commands has the prompt as it is', async () => {
    const prompt = ' A bay --duration 12 -- and fog '

    expect(await textOf({ prompt, model: 'doubao-seedance-2-0-260128' })).toBe(prompt)
  })

  test.each<[string, Partial<SubmitCall>]>([
    ['the id of an earlier job', { refUpstreamId: 'cgt-1' }],
    ['scenes', { scenes: 'one' }],
  ])('with %s is refused', (_, change) => {
    expect(submitBody(aCall(change))).toEqual({ refusal: expect.any(String) })
  })
})
