import type { Bytes } from '../../../domain/bytes.ts'
import type { Params, Size } from '../../../domain/jobs/params.ts'

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

const loaded = new Map<ClipRatio, Promise<Bytes>>()

/** A playable clip with this aspect ratio. It is read once. Do not change its bytes. */
export function baseClip(ratio: ClipRatio): Promise<Bytes> {
  const known = loaded.get(ratio)
  if (known !== undefined) return known
  const read = Bun.file(new URL(`clips/${clipFile(ratio)}`, import.meta.url)).bytes()
  loaded.set(ratio, read)
  // A failed read is tried again.
  read.catch(() => loaded.delete(ratio))
  return read
}

/** The boxes that contain the boxes with the length of a clip. */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
const BOX_HEADER = 8
/** Behind the header of a version 0 box: version and flags, when the clip was created and when it was modified. */
const CREATED_AT = BOX_HEADER + 4

/**
 * A copy of an MP4 with one track of evenly spaced samples that lasts `durationMs`, without its time of creation. Every
 * box keeps its size.
 */
export function retimeClip(clip: Bytes, durationMs: number): Bytes {
  const retimed = clip.slice()
  const view = new DataView(retimed.buffer)
  const boxes = boxesOf(view, 0, retimed.length)
  const samples = view.getUint32(boxAt(boxes, 'stsz') + BOX_HEADER + 8)
  // One sample lasts `durationMs` units, so that all together last exactly the duration.
  const unitsPerSecond = samples * 1000
  const units = samples * durationMs
  const setWords = (name: string, offset: number, ...words: readonly number[]) =>
    words.forEach((word, place) => view.setUint32(boxAt(boxes, name) + offset + place * 4, word))

  setWords('mvhd', CREATED_AT, 0, 0, unitsPerSecond, units)
  setWords('mdhd', CREATED_AT, 0, 0, unitsPerSecond, units)
  // A track header names its track between the times and the duration.
  setWords('tkhd', CREATED_AT, 0, 0)
  setWords('tkhd', CREATED_AT + 16, units)
  setWords('stts', BOX_HEADER + 4, 1, samples, durationMs)
  return retimed
}

/** Where each box starts, by its type. */
function boxesOf(view: DataView, start: number, end: number): Map<string, number> {
  const boxes = new Map<string, number>()
  for (let at = start; at + BOX_HEADER <= end; at += view.getUint32(at)) {
    const type = String.fromCharCode(...new Uint8Array(view.buffer, at + 4, 4))
    boxes.set(type, at)
    if (!CONTAINERS.has(type)) continue
    for (const found of boxesOf(view, at + BOX_HEADER, at + view.getUint32(at))) boxes.set(...found)
  }
  return boxes
}

function boxAt(boxes: ReadonlyMap<string, number>, type: string): number {
  const at = boxes.get(type)
  if (at === undefined) throw new Error(`The clip has no box ${type}.`)
  return at
}

const longSides: Readonly<Record<string, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 }
const ratios: Readonly<Record<string, string>> = { landscape: '16:9', portrait: '9:16', square: '1:1' }
const RATIO_MAX = 4

/** An image with the requested aspect ratio, or else the requested orientation. The resolution is the longer side. */
export function imageSize({ aspect_ratio, orientation, resolution }: Params): Size {
  const ratio = ratioOf(aspect_ratio) ?? ratioOf(ratios[String(orientation)]) ?? 1
  return sized(ratio, longSides[String(resolution)] ?? 1024, 1)
}

const CLIP_LONG_SIDE = 640

/** The size of the clip for a request. Its sides are even, as its format requires. */
export function clipSize(params: Params): Size {
  return sized(ratioOf(clipRatio(params)) ?? 1, CLIP_LONG_SIDE, 2)
}

/** The shorter side is a multiple of a number of pixels. */
function sized(ratio: number, longSide: number, multiple: number): Size {
  const short = Math.round(longSide / Math.max(ratio, 1 / ratio) / multiple) * multiple
  return ratio >= 1 ? { width: longSide, height: short } : { width: short, height: longSide }
}

/** The width of `16:9` divided by its height. Undefined for another text, and for an extreme ratio. */
function ratioOf(value: unknown): number | undefined {
  const [, width, height] = /^(\d{1,4}):(\d{1,4})$/.exec(String(value)) ?? []
  const ratio = Number(width) / Number(height)
  return ratio >= 1 / RATIO_MAX && ratio <= RATIO_MAX ? ratio : undefined
}
