import { falKind } from './fal/fal.ts'
import { geminiImagesKind } from './gemini-images/gemini-images.ts'
import { geminigenKind } from './geminigen/geminigen.ts'
import { klingKind } from './kling/kling.ts'
import { minimaxKind } from './minimax/minimax.ts'
import { openAiImagesKind } from './openai-images/openai-images.ts'
import { replicateKind } from './replicate/replicate.ts'
import { runwayKind } from './runway/runway.ts'
import { seedanceKind } from './seedance/seedance.ts'
import { veoKind } from './veo/veo.ts'
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
