import { probeGemini } from '../gemini-api/probe-gemini.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { veo } from './veo.ts'

export const veoKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
  },
  makes: ['video'],
  provider: veo,
  probe: probeGemini,
}
