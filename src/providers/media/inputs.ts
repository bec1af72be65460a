import type { Params } from '../../domain/jobs/params.ts'
import type { MediaInput, SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { WrittenJson, type Members, type MemberValue } from './request-bodies.ts'

/** The row's parameter for the role of all images of its jobs. It is for the adapter and never sent. */
const IMAGE_ROLE = 'image_role'

/**
 * Whether the images of a job are references and not frames. One image is the first frame, and two are the first and
 * the last frame. More images are references. With the row's parameter `image_role: reference`, all images are
 * references.
 */
export function hasReferences({ images, params }: Pick<SubmitCall, 'images' | 'params'>): boolean {
  return images.length > 2 || (images.length > 0 && params[IMAGE_ROLE] === 'reference')
}

/** For APIs that take a link or a data URL in the same place. */
export function linkOf(input: MediaInput): MemberValue {
  switch (input.from) {
    case 'url':
      return input.url
    case 'provider_id':
      return input.id
    case 'bytes':
      return { dataUrl: input }
  }
}

/** The row's parameters without those that the adapter sets itself. */
export function otherParams(
  { params }: Pick<SubmitCall, 'params'>,
  own: ReadonlySet<string> = new Set(),
): Members {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !own.has(name) && name !== IMAGE_ROLE))
}

export function secondsOf({ durationMs }: Pick<SubmitCall, 'durationMs'>): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1000
}

/** Why an API without scenes cannot make a job: a sentence for the client. */
export function unsupportedScenes({ scenes }: SubmitCall): string | undefined {
  return scenes === undefined ? undefined : 'The provider does not accept scenes.'
}

/** The scenes of a storyboard as the client wrote them. */
export function scenesOf({ scenes }: SubmitCall): WrittenJson | undefined {
  return scenes === undefined ? undefined : new WrittenJson(scenes)
}

/** The prompt and the inputs in one list, each input with its role: the format of MiniMax v2 and Seedance. */
export function contentList(
  call: Pick<SubmitCall, 'prompt' | 'images' | 'videos' | 'params'>,
): readonly MemberValue[] {
  const frames = hasReferences(call) ? [] : ['first_frame', 'last_frame']
  return [
    { type: 'text', text: call.prompt },
    ...call.images.map((image, place) => ({
      type: 'image_url',
      image_url: { url: linkOf(image) },
      role: frames[place] ?? 'reference_image',
    })),
    ...call.videos.map(video => ({
      type: 'video_url',
      video_url: { url: linkOf(video) },
      role: 'reference_video',
    })),
  ]
}

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
