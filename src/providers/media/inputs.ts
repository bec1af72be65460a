import type { MediaInput, SubmitCall } from '../../gateway/ports/media-provider.ts'
import type { Members, MemberValue } from './json-parts.ts'

/** The row's parameter for the role of all images of its jobs. It is for the adapter and never sent. */
export const IMAGE_ROLE = 'image_role'

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

/** Why an API without earlier jobs and scenes cannot make a job: a sentence for the client. */
export function refusalOf({ refUpstreamId, scenes }: SubmitCall): string | undefined {
  if (refUpstreamId !== undefined)
    return 'The provider cannot continue from the id of an earlier job. Send the clip of that job as the video.'
  return scenes === undefined ? undefined : 'The provider does not accept scenes.'
}
