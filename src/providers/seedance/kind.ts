import type { MediaKindEntry } from '../media/media-kind.ts'
import { probeSeedance } from './probe-seedance.ts'
import { seedance } from './seedance.ts'

export const seedanceKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  },
  makes: ['video'],
  provider: seedance,
  probe: probeSeedance,
}
