import type { MediaKindEntry } from '../media/media-kind.ts'
import { minimax } from './minimax.ts'
import { probeMinimax } from './probe-minimax.ts'

export const minimaxKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.minimax.io',
  },
  makes: ['video'],
  provider: minimax,
  probe: probeMinimax,
}
