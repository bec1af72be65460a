import type { MediaInput, SubmitCall } from '../../gateway/ports/media-provider.ts'
import type { BodyPart } from '../media/joined-body.ts'
import { jsonParts, type Members, type MemberValue } from '../media/json-parts.ts'

/** The two versions of the API have bodies and routes of their own. */
export type Version = 'v1' | 'v2'

/** `MiniMax-H3` and its variants are made by v2. `MiniMax-Hailuo-…` and all older models are made by v1. */
export function versionOf(model: string): Version {
  return /^MiniMax-H\d/i.test(model) ? 'v2' : 'v1'
}

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_FIELDS = new Set([
  'model',
  'prompt',
  'content',
  'duration',
  'first_frame_image',
  'last_frame_image',
  'subject_reference',
  'callback_url',
  'image_role',
  'n',
])

/** The body of a submit, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): readonly BodyPart[] | { readonly refusal: string } {
  const version = versionOf(call.model)
  const refusal = refusalOf(call, version)
  return refusal === undefined ? jsonParts(version === 'v1' ? bodyOfV1(call) : bodyOfV2(call)) : { refusal }
}

function refusalOf({ videos, refUpstreamId, scenes }: SubmitCall, version: Version): string | undefined {
  if (refUpstreamId !== undefined)
    return 'The provider cannot go on from the id of an earlier job. Send the clip of that job as the video.'
  if (scenes !== undefined) return 'The provider does not take scenes.'
  return version === 'v1' && videos.length > 0 ? 'The model takes no videos.' : undefined
}

/** In the role of a reference, all images show one character. */
function bodyOfV1(call: SubmitCall): Members {
  const { model, prompt, images } = call
  const values = images.map(linkOf)
  const areReferences = hasReferences(call)
  const [first, last] = areReferences ? [] : values
  return {
    model,
    prompt,
    ...otherFields(call),
    duration: secondsOf(call),
    first_frame_image: first,
    last_frame_image: last,
    subject_reference: areReferences ? [{ type: 'character', image: values }] : undefined,
  }
}

/** Everything to work on is in one list. */
function bodyOfV2(call: SubmitCall): Members {
  const { model, prompt, images, videos } = call
  const { aspect_ratio: ratio, ...others } = otherFields(call)
  const imageRoles = hasReferences(call) ? [] : ['first_frame', 'last_frame']
  return {
    model,
    content: [
      { type: 'text', text: prompt },
      ...images.map((image, place) => ({
        type: 'image_url',
        image_url: { url: linkOf(image) },
        role: imageRoles[place] ?? 'reference_image',
      })),
      ...videos.map(video => ({
        type: 'video_url',
        video_url: { url: linkOf(video) },
        role: 'reference_video',
      })),
    ],
    ratio,
    ...others,
    duration: secondsOf(call),
  }
}

/**
 * One image is the first frame, and two are the first and the last. More are reference images; so are all with the
 * row's parameter `image_role: reference`.
 */
function hasReferences({ images, params }: SubmitCall): boolean {
  return images.length > 2 || (images.length > 0 && params['image_role'] === 'reference')
}

function otherFields({ params }: SubmitCall): Members {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !OWN_FIELDS.has(name)))
}

function secondsOf({ durationMs }: SubmitCall): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1000
}

/** The API takes a link or a data URL in the same place. */
function linkOf(input: MediaInput): MemberValue {
  switch (input.from) {
    case 'url':
      return input.url
    case 'provider_id':
      return input.id
    case 'bytes':
      return { dataUrl: input }
  }
}
