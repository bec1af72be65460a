import type { Params } from '../../../domain/jobs/params.ts'
import { ratioOf } from './frame-size.ts'

/**
 * The aspect ratios of the clips in `clips/`: those that providers of videos take. `scripts/make-sandbox-clips.ts`
 * writes the files.
 */
export const clipRatios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] as const
export type ClipRatio = (typeof clipRatios)[number]

/** The clip with the requested aspect ratio, or with the nearest one. */
export function clipRatio({ aspect_ratio: asked = '16:9' }: Params): ClipRatio {
  const wanted = Math.log(ratioOf(asked) ?? 16 / 9)
  const distance = (ratio: ClipRatio) => Math.abs(Math.log(ratioOf(ratio) ?? 1) - wanted)
  return clipRatios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best))
}

export function clipFile(ratio: ClipRatio): string {
  return `${ratio.replace(':', 'x')}.mp4`
}

const loaded = new Map<ClipRatio, Promise<Uint8Array<ArrayBuffer>>>()

/** A playable clip with this aspect ratio. It is read once. Do not change its bytes. */
export function baseClip(ratio: ClipRatio): Promise<Uint8Array<ArrayBuffer>> {
  const known = loaded.get(ratio)
  if (known !== undefined) return known
  const read = Bun.file(new URL(`clips/${clipFile(ratio)}`, import.meta.url)).bytes()
  loaded.set(ratio, read)
  // A failed read is tried again.
  read.catch(() => loaded.delete(ratio))
  return read
}
