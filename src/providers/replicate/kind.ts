import type { MediaKindEntry } from '../media/media-kind.ts'
import { probeReplicate } from './probe-replicate.ts'
import { replicate } from './replicate.ts'

export const replicateKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.replicate.com/v1',
  },
  makes: ['image', 'video'],
  provider: replicate,
  probe: probeReplicate,
}
