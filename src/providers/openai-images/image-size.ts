import type { Params } from '../../domain/jobs/params.ts'

/** The sizes of models that offer three. */
type Sizes = Readonly<Record<'square' | 'landscape' | 'portrait', string>>

const gptImageSizes: Sizes = { square: '1024x1024', landscape: '1536x1024', portrait: '1024x1536' }
const dallE3Sizes: Sizes = { square: '1024x1024', landscape: '1792x1024', portrait: '1024x1792' }
const DALL_E_2_SIZE = '1024x1024'

/** From here on, GPT image models take any size whose sides are multiples of 16, within the limits below. */
const FREE_SIZES = /(?:^|\/)gpt-image-2/
const SIDE_STEP = 16
const SIDE_MAX = 3840
const pixelsMax: Readonly<Record<string, number>> = { '1K': 1024 ** 2, '2K': 2048 ** 2, '4K': 3840 * 2160 }

/**
 * The `size` of a request. The model's family decides which sizes exist. A `size` among the parameters is sent
 * unchanged. Undefined if the request has no shape; the provider then uses its own default.
 */
export function imageSize(model: string, params: Params): string | undefined {
  const { size, resolution } = params
  if (size !== undefined) return String(size)
  const ratio = ratioOf(params)
  if (ratio === undefined) return undefined
  if (FREE_SIZES.test(model)) return freeSize(ratio, pixelsMax[String(resolution)] ?? 1024 ** 2)
  const version = dallEVersion(model)
  if (version === '2') return DALL_E_2_SIZE
  return (version === '3' ? dallE3Sizes : gptImageSizes)[shapeOf(ratio)]
}

/** The version of a DALL·E model, the family that may return links; undefined for other models. */
export function dallEVersion(model: string): string | undefined {
  return /(?:^|\/)dall-e-(\d)/.exec(model)?.[1]
}

type Ratio = { readonly width: number; readonly height: number }

const orientations: Readonly<Record<string, Ratio>> = {
  square: { width: 1, height: 1 },
  landscape: { width: 3, height: 2 },
  portrait: { width: 2, height: 3 },
}

/** The aspect ratio, or else the orientation; square if only a resolution is given. */
function ratioOf({ aspect_ratio, orientation, resolution }: Params): Ratio | undefined {
  const [, width, height] = /^(\d{1,2}):(\d{1,2})$/.exec(String(aspect_ratio)) ?? []
  if (width !== undefined && Number(width) * Number(height) > 0)
    return { width: Number(width), height: Number(height) }
  return orientations[String(orientation)] ?? (resolution === undefined ? undefined : orientations['square'])
}

function shapeOf({ width, height }: Ratio): keyof Sizes {
  if (width === height) return 'square'
  return width > height ? 'landscape' : 'portrait'
}

/** The largest size of exactly this ratio with at most this number of pixels. */
function freeSize(ratio: Ratio, pixels: number): string | undefined {
  const divisor = greatestCommonDivisor(ratio.width, ratio.height)
  const width = (ratio.width / divisor) * SIDE_STEP
  const height = (ratio.height / divisor) * SIDE_STEP
  const factor = Math.floor(
    Math.min(Math.sqrt(pixels / (width * height)), SIDE_MAX / Math.max(width, height)),
  )
  return factor === 0 ? undefined : `${width * factor}x${height * factor}`
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right)
}
