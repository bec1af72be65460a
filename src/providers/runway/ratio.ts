import type { SubmitCall } from '../../gateway/ports/media-provider.ts'

type Ratios = Readonly<Record<string, string>>

/** Sizes that most models of a route support. */
const videoRatios: Ratios = {
  '16:9': '1280:720',
  '9:16': '720:1280',
  '1:1': '960:960',
  '4:3': '1104:832',
  '3:4': '832:1104',
  '21:9': '1584:672',
}
const fullHdRatios: Ratios = { '16:9': '1920:1080', '9:16': '1080:1920' }
const imageRatios: Ratios = {
  '16:9': '1920:1080',
  '9:16': '1080:1920',
  '1:1': '1024:1024',
  '4:3': '1440:1080',
  '3:4': '1080:1440',
  '21:9': '2112:912',
}

/** The orientations that the contract has for images. */
const orientations: Readonly<Record<string, string>> = { square: '1:1', landscape: '16:9', portrait: '9:16' }

/**
 * The `ratio` of a create, a size in pixels with a colon. A `ratio` among the parameters is sent unchanged. An aspect
 * ratio without a usual size is sent unchanged too, because some models accept it. Undefined if the request has no
 * shape.
 */
export function ratioOf({ kind, params }: Pick<SubmitCall, 'kind' | 'params'>): string | undefined {
  const { ratio, aspect_ratio: aspect, orientation, resolution } = params
  if (ratio !== undefined) return String(ratio)
  const shape = aspect === undefined ? orientations[String(orientation)] : String(aspect)
  if (shape === undefined) return undefined
  const isFullHd = /^1080p$/i.test(String(resolution))
  const sizes = kind === 'image' ? imageRatios : isFullHd ? { ...videoRatios, ...fullHdRatios } : videoRatios
  return sizes[shape] ?? shape
}
