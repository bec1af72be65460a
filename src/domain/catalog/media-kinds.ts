import type { MediaKindRules } from './provider.ts'

/**
 * The kinds of providers that make images or videos only, and what their rows have of their own. Written from
 * `src/providers/media-kinds.ts` by `sh scripts/bun.sh all test/provider-table/write.ts`.
 */
export const mediaKinds = {
  'openai-images': {},
  'gemini-images': {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
  },
  kling: {
    hasKeyPair: true,
    reportsCredits: true,
  },
  fal: {
    baseUrl: 'https://queue.fal.run',
  },
  geminigen: {
    baseUrl: 'https://api.geminigen.ai',
    keyHeader: 'x-api-key',
    reportsCredits: true,
  },
  minimax: {
    baseUrl: 'https://api.minimax.io',
  },
  replicate: {
    baseUrl: 'https://api.replicate.com/v1',
  },
  runway: {
    baseUrl: 'https://api.dev.runwayml.com',
    reportsCredits: true,
  },
  seedance: {
    baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  },
  veo: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
  },
} as const satisfies Readonly<Record<string, MediaKindRules>>
