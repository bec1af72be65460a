import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import {
  contentList,
  hasReferences,
  linkOf,
  otherParams,
  unsupportedScenes,
  secondsOf,
} from '../media/inputs.ts'
import { jsonParts, type Members, type SubmitBody } from '../media/request-bodies.ts'

/** The two versions of the API have different bodies and routes. */
export type Version = 'v1' | 'v2'

/** `MiniMax-H3` and its variants are made by v2. `MiniMax-Hailuo-…` and all older models are made by v1. */
export function versionOf(model: string): Version {
  return /^MiniMax-H\d/i.test(model) ? 'v2' : 'v1'
}

/** The row's parameter that allows inputs that the provider bills. It is for the adapter and never sent. */
const BILLED_INPUTS = 'billed_inputs'
/** Images of a job that v2 of the API does not bill. */
const FREE_IMAGES = 5

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_FIELDS = new Set([
  'model',
  BILLED_INPUTS,
  'prompt',
  'content',
  'duration',
  'first_frame_image',
  'last_frame_image',
  'subject_reference',
  'callback_url',
  'n',
])

/** The body of a submission, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): SubmitBody {
  const version = versionOf(call.model)
  const refusal = unsupportedScenes(call) ?? inputsRefusalOf(call, version)
  return refusal === undefined ? jsonParts(version === 'v1' ? bodyOfV1(call) : bodyOfV2(call)) : { refusal }
}

/**
 * The provider bills the seconds of reference videos, and images beyond the fifth. A job is charged for the seconds of
 * its result, so it cannot have such inputs unless the operator says that the row's price covers them.
 */
function inputsRefusalOf({ images, videos, params }: SubmitCall, version: Version): string | undefined {
  if (version === 'v1') return videos.length === 0 ? undefined : 'The model does not accept videos.'
  if (params[BILLED_INPUTS] === 'included') return undefined
  if (videos.length > 0) return 'The model does not accept reference videos.'
  return images.length > FREE_IMAGES ? `The model accepts at most ${FREE_IMAGES} images.` : undefined
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
