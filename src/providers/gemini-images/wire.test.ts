import { describe, expect, test } from 'bun:test'
import type { ImageTokens } from '../../domain/pricing/image-tokens.ts'
import { fixturesOf } from '../../../test/support/fixture.ts'
import { mediaTypeOf } from '../../protocol/media/media-signature.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { readGenerated } from './wire.ts'

const fixture = fixturesOf(import.meta)
const answered = (body: string, status = 200): WholeAnswer => ({ status, body })

describe('the answer to a request', () => {
  test.each(['image', 'thoughts'])('like %s has one image, without the texts and thoughts', name => {
    const outcome = readGenerated(answered(fixture(name)))

    const outputs = outcome.outcome === 'finished' ? outcome.result.outputs : []
    expect(outcome).toMatchObject({ outcome: 'finished', result: { isCounted: true } })
    expect(outputs.map(output => output.from === 'bytes' && mediaTypeOf(output.bytes))).toEqual(['image/png'])
  })

  test('has the images of all candidates, without broken ones', () => {
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
  ])('like %s is a refusal with the code %s', (name, code, message) => {
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
  ])('with %s has its tokens', (_, change, tokens) => {
    const answer = JSON.parse(fixture('image')) as { usageMetadata: object }
    const body = JSON.stringify({ ...answer, usageMetadata: { ...answer.usageMetadata, ...change } })

    expect(readGenerated(answered(body))).toMatchObject({ outcome: 'finished', result: { tokens } })
  })

  test.each([
    ['prompt-blocked', { textInput: 7, imageInput: 0, textOutput: 0, imageOutput: 0 }],
    ['text-only', { textInput: 7, imageInput: 0, textOutput: 30, imageOutput: 0 }],
  ])('without an image, like %s, has the tokens that are billed', (name, tokens) => {
    const usageMetadata = {
      promptTokenCount: 7,
      ...(name === 'text-only' ? { candidatesTokenCount: 30 } : {}),
    }
    const body = JSON.stringify({ ...(JSON.parse(fixture(name)) as object), usageMetadata })

    expect(readGenerated(answered(body))).toMatchObject({ outcome: 'rejected', tokens })
  })

  test('without an image and a text has a default message', () => {
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
  ])('of status %d like %s is rejected as %s', (status, name, reason, code) => {
    const outcome = readGenerated(answered(fixture(name), status))

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status })
    expect('code' in outcome ? outcome.code : undefined).toBe(code)
  })

  test.each([
    [500, 'image'],
    [503, 'unavailable'],
  ])('of status %d like %s is unknown', (status, name) => {
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
