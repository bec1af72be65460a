import type { MediaKindEntry } from '../media/media-kind.ts'
import { geminigen } from './geminigen.ts'
import { probeGeminigen } from './probe-geminigen.ts'

export const geminigenKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.geminigen.ai',
    keyHeader: 'x-api-key',
    reportsCredits: true,
  },
  makes: ['image', 'video'],
  provider: geminigen,
  probe: probeGeminigen,
}
