import type { MediaKindEntry } from '../media/media-kind.ts'
import { fal } from './fal.ts'
import { probeFal } from './probe-fal.ts'

export const falKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://queue.fal.run',
  },
  makes: ['image', 'video'],
  provider: fal,
  probe: probeFal,
}
