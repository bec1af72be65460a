import type { Members, MemberValue } from '../media/json-parts.ts'

/** How a family of models names its input images: a first and a last one, or a list. */
type Names = { readonly first: string; readonly last?: string } | { readonly list: string }

/** The first pattern that matches the name of the model counts. */
const families: readonly (readonly [pattern: RegExp, names: Names])[] = [
  [/nano-banana|seedream/, { list: 'image_input' }],
  [/gpt-image|flux-2/, { list: 'input_images' }],
  [/kontext/, { first: 'input_image' }],
  [/kling/, { first: 'start_image', last: 'end_image' }],
  [/minimax|hailuo/, { first: 'first_frame_image', last: 'last_frame_image' }],
  [/(?:^|\/)sora/, { first: 'input_reference' }],
  [/(?:^|\/)veo/, { first: 'image', last: 'last_frame' }],
]
const usual: Names = { first: 'image', last: 'last_frame_image' }

/** The members of a model's input for its images. Images without a name in the family are sent as a list, `images`. */
export function imageMembers(model: string, images: readonly MemberValue[]): Members {
  if (images.length === 0) return {}
  const [, names] = families.find(([pattern]) => pattern.test(model)) ?? [undefined, usual]
  if ('list' in names) return { [names.list]: images }
  const [first, last, ...others] = images
  if (others.length > 0 || (last !== undefined && names.last === undefined)) return { images }
  return { [names.first]: first, ...(names.last === undefined ? {} : { [names.last]: last }) }
}
