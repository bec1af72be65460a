import { probeGemini } from '../gemini-api/probe-gemini.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { geminiImages } from './gemini-images.ts'

export const geminiImagesKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
  },
  makes: ['image'],
  provider: geminiImages,
  probe: probeGemini,
}
