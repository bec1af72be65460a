import { falKind } from './fal/kind.ts'
import { geminiImagesKind } from './gemini-images/kind.ts'
import { geminigenKind } from './geminigen/kind.ts'
import { klingKind } from './kling/kind.ts'
import { minimaxKind } from './minimax/kind.ts'
import { openAiImagesKind } from './openai-images/kind.ts'
import { replicateKind } from './replicate/kind.ts'
import { runwayKind } from './runway/kind.ts'
import { seedanceKind } from './seedance/kind.ts'
import { veoKind } from './veo/kind.ts'
import type { MediaKindEntry } from './media/media-kind.ts'

/**
 * The kinds of providers of images and videos, by the name that rows have. A new kind is a folder beside this file and
 * a line here. `test/provider-table/write.ts` copies the names and rules to the domain, which checks the rows.
 */
export const mediaKindEntries = {
  'openai-images': openAiImagesKind,
  'gemini-images': geminiImagesKind,
  kling: klingKind,
  fal: falKind,
  geminigen: geminigenKind,
  minimax: minimaxKind,
  replicate: replicateKind,
  runway: runwayKind,
  seedance: seedanceKind,
  veo: veoKind,
} as const satisfies Readonly<Record<string, MediaKindEntry>>
