import { describe, expect, test } from 'bun:test'
import type { ImageTokens } from '../../domain/pricing/image-tokens.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { mediaTypeOf } from '../../protocol/media/media-signature.ts'
import { readGenerated, requestBody } from './wire.ts'
import { joinedBody } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { fixturesOf } from '../../../test/support/fixture.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'

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
  test('a request has the prompt in the one turn of a user', async () => {
    expect(await bodyOf({})).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A bay' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    } as never)
  })

  test('a request has its inputs before the prompt', async () => {
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
  ])('a request has the shape of %j as %j', async (params, imageConfig) => {
    const { generationConfig } = await bodyOf({ params })

    expect(generationConfig['imageConfig']).toEqual(imageConfig as never)
  })

  test.each([
    // The official SDK refuses the field for this host.
    ['https://generativelanguage.googleapis.com/v1beta', undefined],
    ['https://aiplatform.example.com/v1', { personGeneration: 'ALLOW_NONE' }],
  ])('a request to %s has person_generation as %j', async (baseUrl, imageConfig) => {
    const provider = mediaProviderRow('gemini-images', baseUrl)

    const { generationConfig } = await bodyOf({ provider, params: { person_generation: 'ALLOW_NONE' } })

    expect(generationConfig['imageConfig']).toEqual(imageConfig as never)
  })

  test('a request has the other parameters of the row', async () => {
    const { generationConfig } = await bodyOf({ params: { seed: 7, temperature: 0.5 } })

    expect(generationConfig).toMatchObject({ seed: 7, temperature: 0.5 })
  })

  test.each(['candidateCount', 'responseModalities', 'imageConfig'])(
    'a request never has %s from the parameters',
    async name => {
      const { generationConfig } = await bodyOf({ params: { [name]: 'x' } })

      expect(Object.values(generationConfig)).not.toContain('x')
    },
  )
})

const fixture = fixturesOf(import.meta)
const answered = (body: string, status = 200): MediaAnswer => ({ status, body })

describe('the answer to a request', () => {
  test.each(['image', 'thoughts'])(
    'an answer like %s has one image, without the texts and thoughts',
    name => {
      const outcome = readGenerated(answered(fixture(name)))

      const outputs = outcome.outcome === 'finished' ? outcome.result.outputs : []
      expect(outcome).toMatchObject({ outcome: 'finished', result: { isCounted: true } })
      expect(outputs.map(output => output.from === 'bytes' && mediaTypeOf(output.bytes))).toEqual([
        'image/png',
      ])
    },
  )

  test('an answer has the images of all candidates, without broken ones', () => {
    const part = (data: unknown) => ({ content: { parts: [{ inlineData: { data } }] } })
    const candidates = [part('AQID'), part('%'), part(7), part('BAUG'), {}, null]

    expect(readGenerated(answered(JSON.stringify({ candidates })))).toMatchObject({
      result: {
        outputs: [
          { from: 'bytes', bytes: new Uint8Array([1, 2, 3]) },
          { from: 'bytes', bytes: new Uint8Array([4, 5, 6]) },
        ],
      },
    })
  })

  test.each([
    [
      'prompt-blocked',
      'PROHIBITED_CONTENT',
      "The provider's content filter blocked the prompt or the image.",
    ],
    ['image-safety', 'IMAGE_SAFETY', "The provider's content filter blocked the prompt or the image."],
    ['text-only', 'NO_IMAGE', 'Which lighthouse do you mean?'],
  ])('an answer like %s is a refusal with the code %s', (name, code, message) => {
    expect(readGenerated(answered(fixture(name)))).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid',
      status: 200,
      code,
      message,
    })
  })

  test.each<[string, object, ImageTokens]>([
    ['an image', {}, { textInput: 7, imageInput: 0, textOutput: 0, imageOutput: 1290 }],
    [
      'details, and thoughts beside the answer',
      {
        promptTokenCount: 265,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 7 },
          { modality: 'IMAGE', tokenCount: 258 },
        ],
        candidatesTokenCount: 1300,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
        thoughtsTokenCount: 90,
      },
      { textInput: 7, imageInput: 258, textOutput: 100, imageOutput: 1290 },
    ],
    [
      'impossible numbers',
      { promptTokenCount: -1, candidatesTokenCount: 1.5 },
      { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 },
    ],
  ])('an answer with %s has its tokens', (_, change, tokens) => {
    const answer = JSON.parse(fixture('image')) as { usageMetadata: object }
    const body = JSON.stringify({ ...answer, usageMetadata: { ...answer.usageMetadata, ...change } })

    expect(readGenerated(answered(body))).toMatchObject({ outcome: 'finished', result: { tokens } })
  })

  test.each([
    ['prompt-blocked', { textInput: 7, imageInput: 0, textOutput: 0, imageOutput: 0 }],
    ['text-only', { textInput: 7, imageInput: 0, textOutput: 30, imageOutput: 0 }],
  ])('an answer without an image, like %s, has the tokens that are billed', (name, tokens) => {
    const usageMetadata = {
      promptTokenCount: 7,
      ...(name === 'text-only' ? { candidatesTokenCount: 30 } : {}),
    }
    const body = JSON.stringify({ ...(JSON.parse(fixture(name)) as object), usageMetadata })

    expect(readGenerated(answered(body))).toMatchObject({ outcome: 'rejected', tokens })
  })

  test('an answer without an image and a text has a default message', () => {
    expect(readGenerated(answered('{"candidates":[{"finishReason":"STOP"}]}'))).toMatchObject({
      code: 'NO_IMAGE',
      message: 'The provider made no image and did not say why.',
    })
  })

  test.each([
    [400, 'invalid-argument', 'invalid', 'INVALID_ARGUMENT'],
    [400, 'key-invalid', 'operator', 'INVALID_ARGUMENT'],
    [429, 'quota-of-day', 'operator', 'RESOURCE_EXHAUSTED'],
    [429, 'quota-of-minute', 'rate_limited', 'RESOURCE_EXHAUSTED'],
    [404, 'not-found', 'operator', 'NOT_FOUND'],
    [403, 'key-invalid', 'operator', 'INVALID_ARGUMENT'],
    [302, 'image', 'operator', undefined],
  ])('an answer with status %d like %s is rejected as %s', (status, name, reason, code) => {
    const outcome = readGenerated(answered(fixture(name), status))

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status })
    expect('code' in outcome ? outcome.code : undefined).toBe(code)
  })

  test.each([
    [500, 'image'],
    [503, 'unavailable'],
  ])('an answer with status %d like %s is unknown', (status, name) => {
    expect(readGenerated(answered(fixture(name), status)).outcome).toBe('unknown')
  })

  test.each(['', '<html>', '{"candidates":[', '[]', '{}', '{"candidates":[]}', '{"candidates":7}'])(
    '%j has no result',
    body => {
      expect(readGenerated(answered(body))).toMatchObject({
        outcome: 'rejected',
        reason: 'no_id',
        status: 200,
      })
    },
  )
})
