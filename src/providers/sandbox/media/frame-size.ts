import type { Params } from '../../../domain/jobs/params.ts'

/** In pixels. */
export type Size = { readonly width: number; readonly height: number }

const longSides: Readonly<Record<string, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 }
const ratios: Readonly<Record<string, string>> = { landscape: '16:9', portrait: '9:16', square: '1:1' }
const RATIO_MAX = 4

/** An image with the requested aspect ratio, or else the requested orientation. The resolution is the longer side. */
export function imageSize({ aspect_ratio, orientation, resolution }: Params): Size {
  const ratio = ratioOf(aspect_ratio) ?? ratioOf(ratios[String(orientation)]) ?? 1
  return sized(ratio, longSides[String(resolution)] ?? 1024, 1)
}

/** The shorter side is a multiple of a number of pixels. */
export function sized(ratio: number, longSide: number, multiple: number): Size {
  const short = Math.round(longSide / Math.max(ratio, 1 / ratio) / multiple) * multiple
  return ratio >= 1 ? { width: longSide, height: short } : { width: short, height: longSide }
}

/** The width of `16:9` divided by its height. Undefined for another text, and for an extreme ratio. */
export function ratioOf(value: unknown): number | undefined {
  const [, width, height] = /^(\d{1,4}):(\d{1,4})$/.exec(String(value)) ?? []
  const ratio = Number(width) / Number(height)
  return ratio >= 1 / RATIO_MAX && ratio <= RATIO_MAX ? ratio : undefined
}
