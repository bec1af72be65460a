import { expect, test } from 'bun:test'
import type { ProviderKind } from '../src/domain/catalog/provider.ts'
import type { JobKind } from '../src/domain/jobs/job.ts'
import type { Params } from '../src/domain/jobs/params.ts'
import { mediaKindEntries } from '../src/providers/media-kinds.ts'
import { fakeClock } from './support/fake-clock.ts'

const unused = () => {
  throw new Error('A size is told without a call.')
}
const ports = { send: unused, http: { send: unused } as never, clock: fakeClock(), secretOf: unused }

function sizeOf(kind: keyof typeof mediaKindEntries, model: string, params: Params): string | undefined {
  const makes: JobKind = mediaKindEntries[kind].makes.length === 1 && kind !== 'veo' ? 'image' : 'video'
  const size = mediaKindEntries[kind].provider(ports).sizeOf?.({ kind: makes, model, params })
  return size && `${size.width}x${size.height}`
}

test.each<[keyof typeof mediaKindEntries & ProviderKind, string, Params, string | undefined]>([
  ['openai-images', 'gpt-image-1', { aspect_ratio: '16:9' }, '1536x1024'],
  ['openai-images', 'gpt-image-1', { aspect_ratio: '1:1', resolution: '2K' }, '1024x1024'],
  ['openai-images', 'gpt-image-2', { aspect_ratio: '1:1', resolution: '2K' }, '2048x2048'],
  ['openai-images', 'dall-e-3', { aspect_ratio: '16:9' }, '1792x1024'],
  ['openai-images', 'gpt-image-1', {}, undefined],
  ['gemini-images', 'gemini-3-pro-image', { aspect_ratio: '1:1', resolution: '2K' }, '2048x2048'],
  ['gemini-images', 'gemini-2.5-flash-image', { aspect_ratio: '1:1', resolution: '2K' }, '1024x1024'],
  ['gemini-images', 'gemini-3-pro-image', { orientation: 'square' }, '1024x1024'],
  ['gemini-images', 'gemini-3-pro-image', { aspect_ratio: '16:9' }, undefined],
  ['gemini-images', 'gemini-3-pro-image', {}, undefined],
  ['runway', 'gen4_turbo', { aspect_ratio: '9:16', resolution: '1080p' }, '1080x1920'],
  ['runway', 'gen4_turbo', { aspect_ratio: '1:1' }, '960x960'],
  ['veo', 'veo-3.1', { aspect_ratio: '16:9' }, '1280x720'],
  ['veo', 'veo-3.1', { aspect_ratio: '9:16', resolution: '1080p' }, '1080x1920'],
  ['veo', 'veo-3.1', { aspect_ratio: '1:1' }, undefined],
  ['kling', 'kling-v2', { aspect_ratio: '16:9' }, undefined],
])('the kind %s tells for %s with %j the size %p', (kind, model, params, size) => {
  expect(sizeOf(kind, model, params)).toBe(size)
})
