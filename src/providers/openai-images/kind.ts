import type { MediaKindEntry } from '../media/media-kind.ts'
import { probeOpenAiCompatible } from '../openai-compatible/openai-compatible.ts'
import { openAiImages } from './openai-images.ts'

export const openAiImagesKind: MediaKindEntry = {
  rules: {},
  makes: ['image'],
  provider: openAiImages,
  probe: probeOpenAiCompatible,
}
