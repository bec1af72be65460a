import type {
  MediaResult,
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
  MediaOutput,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import {
  isUsableId,
  reasonOf,
  waitOf,
  failedJob,
  isSuccess,
  statusProblem,
  UNEXPLAINED_FAILURE,
  unusable,
} from '../media/outcomes.ts'
import { linkOf, otherParams, scenesOf, secondsOf, IMAGE_FIELD, namedImages } from '../media/inputs.ts'
import { jsonParts, type Members, type MemberValue, type SubmitBody } from '../media/request-bodies.ts'
import { linkOutput } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they change the number of results. */
const OWN_FIELDS = new Set([
  'prompt',
  'duration',
  'num_outputs',
  'num_images',
  'number_of_images',
  'scenes',
  IMAGE_FIELD,
])

/** Where a prediction is created, and the body of the create. */
type Create = { readonly path: string; readonly body: SubmitBody }

/**
 * A model is `owner/name`, `owner/name:version`, the id of a version, or `deployments/owner/name`. The body has only
 * members of the API, because the API refuses any other.
 */
export function createOf(call: SubmitCall): Create {
  const [, deployment] = /^deployments\/(.+)$/.exec(call.model) ?? []
  const path = deployment === undefined ? '/predictions' : `/deployments/${deployment}/predictions`
  const version = deployment === undefined ? call.model : undefined
  return { path, body: jsonParts({ version, input: inputOf(call) }) }
}

/** The input of the model. Bytes go as data URLs. */
function inputOf(call: SubmitCall): Members {
  const { model, prompt, params } = call
  const images = call.images.map(linkOf)
  const videos = call.videos.map(linkOf)
  return {
    prompt,
    ...otherParams(call, OWN_FIELDS),
    duration: secondsOf(call),
    ...(namedImages(params, images) ?? imageMembers(model, images)),
    video: videos.length > 1 ? videos : videos[0],
    scenes: scenesOf(call),
  }
}

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
function imageMembers(model: string, images: readonly MemberValue[]): Members {
  if (images.length === 0) return {}
  const [, names] = families.find(([pattern]) => pattern.test(model)) ?? [undefined, usual]
  if ('list' in names) return { [names.list]: images }
  const [first, last, ...others] = images
  if (others.length > 0 || (last !== undefined && names.last === undefined)) return { images }
  return { [names.first]: first, ...(names.last === undefined ? {} : { [names.last]: last }) }
}

/** The outcome of an answer to a create. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readCreated(answer: MediaAnswer): SubmitOutcome {
  const { status, body, contentType } = answer
  if (status >= 500) return { outcome: 'unknown', problem: statusProblem(answer) }
  if (!isSuccess(answer)) {
    const { message } = readUpstreamError(body, contentType)
    return { outcome: 'rejected', reason: reasonOf(status), status, message, ...waitOf(answer) }
  }
  const id = findJsonObject(body)?.['id']
  if (!isUsableId(id))
    return { outcome: 'rejected', reason: 'no_id', status, message: 'The answer names no prediction.' }
  return { outcome: 'accepted', upstreamId: id }
}

/** The path of a prediction under the base URL. */
export function pathOf(id: string): string {
  return `/predictions/${encodeURIComponent(id)}`
}

/** The state of a job in the answer to a query. */
export function readPrediction(answer: MediaAnswer): PollOutcome {
  const prediction = isSuccess(answer) ? findJsonObject(answer.body) : undefined
  const status = prediction?.['status']
  if (prediction === undefined || typeof status !== 'string' || status === '') return unusable(answer)
  switch (status) {
    case 'starting':
    case 'processing':
      return { outcome: 'running', upstreamStatus: status, isKnownStatus: true }
    case 'succeeded':
      return { outcome: 'finished', result: resultOf(prediction) }
    case 'failed':
    case 'canceled':
    case 'aborted':
      return failureOf(prediction, status)
    default:
      return { outcome: 'running', upstreamStatus: status, isKnownStatus: false }
  }
}

type Prediction = Readonly<Record<string, unknown>>

/** The API removes outputs an hour after the end. A result without its data was made, and cannot be fetched. */
function resultOf({ output, data_removed: isRemoved }: Prediction): MediaResult {
  if (isRemoved === true && (output === null || output === undefined)) {
    const problem = 'the provider has removed the result'
    return { outputs: [{ from: 'lost', problem }], isCounted: false }
  }
  return { outputs: outputLinks(output), isCounted: true }
}

/** Some models put a code into the text of the error, such as `(E005)`. */
function failureOf({ error }: Prediction, status: string): PollOutcome {
  const text = isJsonObject(error) ? error['detail'] : error
  if (typeof text !== 'string' || text === '')
    return failedJob(UNEXPLAINED_FAILURE, status === 'failed' ? undefined : status)
  const [, code] = /\b(E\d{3,4})\b/.exec(text) ?? []
  return failedJob(text, code)
}

/** Members that have files. The first member with a file counts, because the images beside a video are its preview. */
const FILE_MEMBERS = ['video', 'videos', 'images', 'image', 'output', 'url']

/**
 * The deepest output that models have: an object with a list of objects with links, in the member of another object.
 */
const LEVELS_MAX = 4

/** The files in an output. Each model has its own form: a link, a list of links, or an object with links. */
function outputLinks(output: unknown, levels = LEVELS_MAX): readonly MediaOutput[] {
  if (typeof output === 'string') return [linkOutput(output) ?? []].flat()
  if (levels === 0) return []
  if (Array.isArray(output)) return output.flatMap(item => outputLinks(item, levels - 1))
  if (!isJsonObject(output)) return []
  const lists = FILE_MEMBERS.map(name => outputLinks(output[name], levels - 1))
  return lists.find(({ length }) => length > 0) ?? []
}
