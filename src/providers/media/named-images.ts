import type { Params } from '../../domain/jobs/params.ts'
import type { Members, MemberValue } from './json-parts.ts'

/** The parameter of a row that names the member for input images. It is not sent. */
export const IMAGE_FIELD = 'image_field'

/**
 * The input images under the member that the row's parameter `image_field` names: `image_url` for one image, and
 * `image_urls[]` for a list. Undefined for a row without this parameter.
 */
export function namedImages(params: Params, images: readonly MemberValue[]): Members | undefined {
  const [, name, list] = /^(\w+)(\[\])?$/.exec(String(params[IMAGE_FIELD] ?? '')) ?? []
  if (name === undefined) return undefined
  if (images.length === 0) return {}
  return { [name]: list === undefined && images.length === 1 ? images[0] : images }
}
