import { expect, test } from 'bun:test'
import { withoutProviderNames } from './provider-names.ts'

const kling = { model: 'film-1', upstreamModel: 'kling-v2-master' }

test.each([
  ['Model kling-v2-master does not support 1080p.', 'Model film-1 does not support 1080p.'],
  ['KLING-V2-MASTER: the Kling AI service is busy.', 'film-1: the [provider] AI service is busy.'],
  ['kling-v2-1 is not available.', '[provider]-v2-1 is not available.'],
  ['Ask OpenAI, google or Black Forest Labs.', 'Ask [provider], [provider] or [provider].'],
  [
    'Runway could not replicate the runway of the picture.',
    '[provider] could not replicate the runway of the picture.',
  ],
  ['See fal-ai/veo3 and RunwayML.', 'See [provider]-ai/[provider]3 and [provider].'],
  ['A fallback for the falling sparkling videos.', 'A fallback for the falling sparkling videos.'],
])('the text %j is shown as %j', (text, shown) => {
  expect(withoutProviderNames(text, kling)).toBe(shown)
})

test.each([
  [
    'black-forest-labs/flux-1.1-pro:5c7d5dc6',
    'flux-1.1-pro: the version is gone.',
    'draw-1: the version is gone.',
  ],
  [
    'black-forest-labs/flux-1.1-pro:5c7d5dc6',
    '"black-forest-labs/flux-1.1-pro:5c7d5dc6" and black-forest-labs/flux-1.1-pro',
    '"draw-1" and draw-1',
  ],
  [
    'veo-3.1',
    'models/veo-3.1 refused the veo-3x1 prompt.',
    'models/draw-1 refused the [provider]-3x1 prompt.',
  ],
  [
    'image',
    'The image was refused by model image: "image".',
    'The image was refused by model draw-1: "draw-1".',
  ],
  ['draw', 'Draw less.', 'Draw less.'],
])('of the upstream model %j, the text %j is shown as %j', (upstreamModel, text, shown) => {
  expect(withoutProviderNames(text, { model: 'draw-1', upstreamModel })).toBe(shown)
})

test("the catalog's own name stays, even with the name of a vendor in it", () => {
  const names = { model: 'kling-pro', upstreamModel: 'kling-v2' }

  expect(withoutProviderNames('kling-pro and kling-v2 of Kling', names)).toBe(
    'kling-pro and kling-pro of [provider]',
  )
})
