import type { MediaModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Params } from '../../domain/jobs/params.ts'

type Fields = Readonly<Record<string, unknown>>
type Choices = Pick<MediaModel, 'kind' | 'params' | 'fixedParams'>
/** In pixels. */
type Size = { readonly width: number; readonly height: number }

/** One shape that a model makes, and the field that asks for it. */
type Shape = {
  /** Such as `16:9`. */
  readonly name: string
  readonly fits: (size: Size) => boolean
  readonly asks: Fields
}

/** Known sizes such as 1792x1024 are not exactly in their ratio. Two ratios of a model differ by more than this. */
const RATIO_TOLERANCE = 0.03
/** A size is `1K` if it has this share of the pixels of 1024x1024. So 1792x1024 is `1K`, and 3840x2160 is `4K`. */
const PIXELS_SHARE_MIN = 0.475
const PIXELS_SHARE_MAX = 1.9
/** A size is `1080p` if its shorter side differs by at most this share. So 1792x1024 is `1080p`. */
const LINES_TOLERANCE = 0.1
const K = 1024
const LINES_SHOWN = 720

const shapeFields = ['aspect_ratio', 'orientation', 'resolution'] as const

/** A row does not say which ratio its landscape has, so any wide size is landscape. */
const orientations: Readonly<Record<string, Omit<Shape, 'asks'>>> = {
  square: { name: '1:1', fits: ({ width, height }) => width === height },
  landscape: { name: '3:2', fits: ({ width, height }) => width > height },
  portrait: { name: '2:3', fits: ({ width, height }) => width < height },
}

/** The sizes by which the clients of OpenAI know these ratios, at `1K`. */
const knownSizes: Readonly<Record<string, Size>> = {
  '1:1': { width: 1024, height: 1024 },
  '3:2': { width: 1536, height: 1024 },
  '2:3': { width: 1024, height: 1536 },
  '16:9': { width: 1792, height: 1024 },
  '9:16': { width: 1024, height: 1792 },
}

/**
 * The fields of a request with its `size` replaced by the fields of the model: the aspect ratio or the orientation, and
 * the resolution. A model with a `size` of its own gets one of its values. `auto` is the model's default. Throws
 * `invalid_field` for a size that the model does not make, because the customer would pay for another one.
 */
export function fieldsWithSize(fields: Fields, model: Choices): Fields {
  const { size: asked, ...others } = fields
  if (asked === undefined || asked === null) return fields
  const own = choicesOf('size', model).find(({ value }) => value === asked)
  if (own !== undefined) return { ...others, ...own.asks }
  if (asked === 'auto') return others
  const sizes = choicesOf('size', model).map(({ value }) => value)
  if (sizes.length > 0) throw notMade(asked, sizes)
  const second = shapeFields.find(name => (others[name] ?? undefined) !== undefined)
  if (second !== undefined) throw refused(`"size" cannot be combined with "${second}". Send one of them.`)
  const shapes = shapesOf(model)
  if (shapes.length === 0) throw refused('This model has no sizes to choose from. Leave out "size".')
  const size = readSize(asked)
  const shape = size && shapes.find(({ fits }) => fits(size))
  const resolution = size && resolutionFor(size, model)
  if (shape !== undefined && resolution !== undefined) return { ...others, ...shape.asks, ...resolution }
  throw notMade(asked, sizesOf(model, shapes))
}

function notMade(asked: unknown, sizes: readonly string[]): GatewayError {
  const shown = typeof asked === 'string' ? `"${asked.slice(0, 40)}"` : 'not a text'
  const made = [...new Set(sizes)].join(', ')
  return refused(`"size" is ${shown}, which this model does not make. It makes these sizes: ${made}.`)
}

function refused(message: string): GatewayError {
  return new GatewayError('invalid_field', message, { param: 'size' })
}

function readSize(asked: unknown): Size | undefined {
  const [, width, height] = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(String(asked)) ?? []
  return width === undefined ? undefined : { width: Number(width), height: Number(height) }
}

function shapesOf(model: Choices): readonly Shape[] {
  const ratios = choicesOf('aspect_ratio', model).flatMap(({ value, asks }) => {
    const ratio = ratioOf(value)
    if (ratio === undefined) return []
    const fits = ({ width, height }: Size) => isNear(width / height, ratio, RATIO_TOLERANCE)
    return [{ name: value, fits, asks }]
  })
  if (ratios.length > 0) return ratios
  return choicesOf('orientation', model).flatMap(({ value, asks }) => {
    const orientation = orientations[value]
    return orientation === undefined ? [] : [{ ...orientation, asks }]
  })
}

/** The values that a parameter of a model can have. A fixed one need not be asked for. */
function choicesOf(
  name: string,
  { params, fixedParams }: Choices,
): readonly { readonly value: string; readonly asks: Fields }[] {
  const fixed = (fixedParams as Params)[name]
  if (fixed !== undefined) return [{ value: String(fixed), asks: {} }]
  return (params[name] ?? []).map(value => ({ value, asks: { [name]: value } }))
}

/**
 * The resolution of a size, as the field that asks for it. Undefined if the model does not have it. An image model
 * without resolutions makes `1K`, the contract's default. The resolution of other video models is their own.
 */
function resolutionFor(size: Size, model: Choices): Fields | undefined {
  const choices = choicesOf('resolution', model).filter(({ value }) => isResolution(value))
  if (choices.length > 0) return choices.find(({ value }) => hasResolution(size, value))?.asks
  return model.kind === 'video' || hasResolution(size, '1K') ? {} : undefined
}

function isResolution(name: string): boolean {
  return linesOf(name) !== undefined || thousandsOf(name) !== undefined
}

function hasResolution({ width, height }: Size, name: string): boolean {
  const lines = linesOf(name)
  if (lines !== undefined) return isNear(Math.min(width, height), lines, LINES_TOLERANCE)
  const share = (width * height) / ((thousandsOf(name) ?? 1) * K) ** 2
  return share >= PIXELS_SHARE_MIN && share < PIXELS_SHARE_MAX
}

/** 720 for `720p`. */
function linesOf(name: string): number | undefined {
  const [, lines] = /^(\d{3,4})p$/i.exec(name) ?? []
  return lines === undefined ? undefined : Number(lines)
}

/** 2 for `2K`. */
function thousandsOf(name: string): number | undefined {
  const [, thousands] = /^(\d{1,2}(?:\.\d)?)K$/i.exec(name) ?? []
  return thousands === undefined ? undefined : Number(thousands)
}

/** The width of `16:9` divided by its height. */
function ratioOf(name: string): number | undefined {
  const [, width, height] = /^([1-9]\d{0,3}):([1-9]\d{0,3})$/.exec(name) ?? []
  return width === undefined ? undefined : Number(width) / Number(height)
}

function isNear(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(value / wanted - 1) <= tolerance
}

/** One size of each shape and resolution. Each is one that the model makes. */
function sizesOf(model: Choices, shapes: readonly Shape[]): readonly string[] {
  const named = choicesOf('resolution', model)
    .map(({ value }) => value)
    .filter(isResolution)
  const assumed = model.kind === 'video' ? `${LINES_SHOWN}p` : '1K'
  return (named.length > 0 ? named : [assumed]).flatMap(resolution =>
    shapes.map(({ name }) => {
      const { width, height } = sizeOf(name, resolution)
      return `${width}x${height}`
    }),
  )
}

function sizeOf(name: string, resolution: string): Size {
  const ratio = ratioOf(name) ?? 1
  const lines = linesOf(resolution)
  if (lines !== undefined) {
    const long = Math.round((lines * Math.max(ratio, 1 / ratio)) / 2) * 2
    return ratio >= 1 ? { width: long, height: lines } : { width: lines, height: long }
  }
  const thousands = thousandsOf(resolution) ?? 1
  const known = knownSizes[name]
  if (known !== undefined) return { width: known.width * thousands, height: known.height * thousands }
  const side = (share: number) => Math.round((thousands * K * Math.sqrt(share)) / 16) * 16
  return { width: side(ratio), height: side(1 / ratio) }
}
