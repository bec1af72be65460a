import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import type { SubmitCall } from '../../gateway/ports/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import { requestBody } from './request-body.ts'

async function bodyOf(change: Partial<SubmitCall>) {
  const row = mediaProviderRow('gemini-images', 'https://generativelanguage.googleapis.com/v1beta')
  const body = requestBody(aSubmitCall(row, { prompt: 'A bay', ...change }))
  if ('refusal' in body) throw new Error(body.refusal)
  return JSON.parse((await bytesOf(joinedBody(body).stream)).toString()) as {
    contents: { parts: object[] }[]
    generationConfig: Record<string, unknown>
  }
}

describe('the body of a request', () => {
  test('has the prompt in the one turn of a user', async () => {
    expect(await bodyOf({})).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A bay' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    } as never)
  })

  test('has its inputs before the prompt', async () => {
    const { contents } = await bodyOf({
      images: [
        bytesInput(new Uint8Array([1, 2, 3]), 'image/webp'),
        { from: 'url', url: 'https://example.com/a.JPG?x=1' },
        { from: 'url', url: 'https://example.com/b' },
        { from: 'provider_id', id: 'https://generativelanguage.googleapis.com/v1beta/files/7' },
      ],
    })

    expect(contents[0]?.parts).toEqual([
      { inlineData: { mimeType: 'image/webp', data: 'AQID' } },
      { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/a.JPG?x=1' } },
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/b' } },
      { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/7' } },
      { text: 'A bay' },
    ])
  })

  test.each([
    [
      { aspect_ratio: '16:9', resolution: '2K' },
      { aspectRatio: '16:9', imageSize: '2K' },
    ],
    [{ orientation: 'portrait' }, { aspectRatio: '2:3' }],
    [{ seed: 7 }, undefined],
  ])('has the shape of %j as %j', async (params, imageConfig) => {
    const { generationConfig } = await bodyOf({ params })

    expect(generationConfig['imageConfig']).toEqual(imageConfig as never)
  })

  test.each([
    // The official SDK refuses the field for this host.
    ['https://generativelanguage.googleapis.com/v1beta', undefined],
    ['https://aiplatform.example.com/v1', { personGeneration: 'ALLOW_NONE' }],
  ])('to %s has person_generation as %j', async (baseUrl, imageConfig) => {
    const provider = mediaProviderRow('gemini-images', baseUrl)

    const { generationConfig } = await bodyOf({ provider, params: { person_generation: 'ALLOW_NONE' } })

    expect(generationConfig['imageConfig']).toEqual(imageConfig as never)
  })

  test('has the other parameters of the row', async () => {
    const { generationConfig } = await bodyOf({ params: { seed: 7, temperature: 0.5 } })

    expect(generationConfig).toMatchObject({ seed: 7, temperature: 0.5 })
  })

  test.each(['candidateCount', 'responseModalities', 'imageConfig'])(
    'never has %s from the parameters',
    async name => {
      const { generationConfig } = await bodyOf({ params: { [name]: 'x' } })

      expect(Object.values(generationConfig)).not.toContain('x')
    },
  )
})
