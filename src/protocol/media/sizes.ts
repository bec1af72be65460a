import type { MediaModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Params, Size } from '../../domain/jobs/params.ts'

type Fields = Readonly<Record<string, unknown>>
type Choices = Pick<MediaModel, 'params' | 'fixedParams'>

/** The size that the provider makes for these fields of a request. Undefined if it does not tell. */
export type SizeOf = (fields: Fields) => Size | undefined

/** One choice of a customer: the fields that ask for it, and its size such as `1536x1024`. */
type Shape = { readonly asks: Fields; readonly size: string }

/** In the order in which sizes are listed: all shapes of the first resolution come first. */
const shapeFields = ['resolution', 'aspect_ratio', 'orientation'] as const
const SHOWN_CHARS_MAX = 40

/**
 * The fields of a request with its `size` replaced by the fields of the model for which the provider makes exactly this
 * size. A model with a `size` of its own gets one of its values. `auto` is the model's default. Throws `invalid_field`
 * for a size that is not made, because the customer would pay for another one.
 */
export function fieldsWithSize(fields: Fields, model: Choices, sizeOf: SizeOf): Fields {
  const { size: asked, ...others } = fields
  if (asked === undefined || asked === null) return fields
  const own = choicesOf('size', model).find(({ value }) => value === asked)
  if (own !== undefined) return { ...others, ...own.asks }
  if (asked === 'auto') return others
  const sizes = choicesOf('size', model).map(({ value }) => value)
  if (sizes.length > 0) throw notMade(asked, sizes)
  const second = shapeFields.find(name => (others[name] ?? undefined) !== undefined)
  if (second !== undefined) throw refused(`"size" cannot be combined with "${second}". Send one of them.`)
  const shapes = shapesOf(others, model, sizeOf)
  const found = shapes.find(({ size }) => size === asked)
  if (found !== undefined) return { ...others, ...found.asks }
  if (shapes.length > 0)
    throw notMade(
      asked,
      shapes.map(({ size }) => size),
    )
  throw refused('The exact sizes that this model makes are not known. Leave out "size".')
}

function notMade(asked: unknown, sizes: readonly string[]): GatewayError {
  const shown = typeof asked === 'string' ? `"${asked.slice(0, SHOWN_CHARS_MAX)}"` : 'not a text'
  const made = [...new Set(sizes)].join(', ')
  return refused(`"size" is ${shown}, which this model does not make. It makes these sizes: ${made}.`)
}

function refused(message: string): GatewayError {
  return new GatewayError('invalid_field', message, { param: 'size' })
}

/** Every combination of the shapes and resolutions of a model whose size is known. */
function shapesOf(others: Fields, model: Choices, sizeOf: SizeOf): readonly Shape[] {
  let combinations: readonly Fields[] = [{}]
  for (const name of shapeFields) {
    const choices = choicesOf(name, model)
    if (choices.length === 0) continue
    combinations = combinations.flatMap(fields => choices.map(({ asks }) => Object.assign({}, fields, asks)))
  }
  return combinations.flatMap(asks => {
    const size = sizeOf({ ...others, ...asks })
    return size === undefined ? [] : [{ asks, size: `${size.width}x${size.height}` }]
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
