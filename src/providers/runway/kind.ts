import type { MediaKindEntry } from '../media/media-kind.ts'
import { probeRunway } from './probe-runway.ts'
import { runway } from './runway.ts'

export const runwayKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.dev.runwayml.com',
    reportsCredits: true,
  },
  makes: ['image', 'video'],
  provider: runway,
  probe: probeRunway,
}
