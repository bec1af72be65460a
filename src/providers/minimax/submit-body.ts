import type { SubmitCall } from '../../gateway/ports/media-provider.ts'
import { contentList } from '../media/content-list.ts'
import { hasReferences, linkOf, otherParams, refusalOf, secondsOf } from '../media/inputs.ts'
import { jsonParts, type Members } from '../media/json-parts.ts'
import type { SubmitBody } from '../media/submit-to.ts'

/** The two versions of the API have different bodies and routes. */
export type Version = 'v1' | 'v2'

/** `MiniMax-H3` and its variants are made by v2. `MiniMax-Hailuo-…` and all older models are made by v1. */
export function versionOf(model: string): Version {
  return /^MiniMax-H\d/i.test(model) ? 'v2' : 'v1'
}

/** The row's parameter that allows reference videos. It is for the adapter and never sent. */
const REFERENCE_VIDEOS = 'reference_videos'

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_FIELDS = new Set([
  'model',
  REFERENCE_VIDEOS,
  'prompt',
  'content',
  'duration',
  'first_frame_image',
  'last_frame_image',
  'subject_reference',
  'callback_url',
  'n',
])

/** The body of a submit, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): SubmitBody {
  const version = versionOf(call.model)
  const refusal = refusalOf(call) ?? videosRefusalOf(call, version)
  return refusal === undefined ? jsonParts(version === 'v1' ? bodyOfV1(call) : bodyOfV2(call)) : { refusal }
}

/**
 * The provider bills the seconds of reference videos too. A job is charged for the seconds of its result, so it cannot
 * have such videos unless the operator says that the row's price covers them.
 */
function videosRefusalOf({ videos, params }: SubmitCall, version: Version): string | undefined {
  if (videos.length === 0) return undefined
  if (version === 'v1') return 'The model does not accept videos.'
  return params[REFERENCE_VIDEOS] === 'included' ? undefined : 'The model does not accept reference videos.'
}

/** As references, all images show one character. */
function bodyOfV1(call: SubmitCall): Members {
  const { model, prompt, images } = call
  const values = images.map(linkOf)
  const areReferences = hasReferences(call)
  const [first, last] = areReferences ? [] : values
  return {
    model,
    prompt,
    ...otherParams(call, OWN_FIELDS),
    duration: secondsOf(call),
    first_frame_image: first,
    last_frame_image: last,
    subject_reference: areReferences ? [{ type: 'character', image: values }] : undefined,
  }
}

/** All inputs are in one list. */
function bodyOfV2(call: SubmitCall): Members {
  const { aspect_ratio: ratio, ...others } = otherParams(call, OWN_FIELDS)
  return { model: call.model, content: contentList(call), ratio, ...others, duration: secondsOf(call) }
}
