import type { MediaKindEntry } from '../media/media-kind.ts'
import { kling } from './kling.ts'
import { probeKling } from './probe-kling.ts'

export const klingKind: MediaKindEntry = {
  rules: {
    hasKeyPair: true,
    reportsCredits: true,
  },
  makes: ['video'],
  provider: kling,
  probe: probeKling,
}
