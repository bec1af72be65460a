import type {
  MediaResult,
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import { isUsableId, reasonOf, waitOf } from '../media/answers.ts'
import { failedJob } from '../media/failed-job.ts'
import { isSuccess, problemOf, UNEXPLAINED_FAILURE, unusable } from '../media/outcomes.ts'
import { linkOf, otherParams, refusalOf, secondsOf } from '../media/inputs.ts'
import { jsonParts, type Members } from '../media/json-parts.ts'
import { IMAGE_FIELD, namedImages } from '../media/named-images.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import type { SubmitBody } from '../media/submit-to.ts'
import { imageMembers } from './input-names.ts'
import { outputLinks } from './output-links.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they change the number of results. */
const OWN_FIELDS = new Set([
  'prompt',
  'duration',
  'num_outputs',
  'num_images',
  'number_of_images',
  IMAGE_FIELD,
])

/** Where a prediction is created, and the body of the create. */
export type Create = { readonly path: string; readonly body: SubmitBody }

/**
 * A model is `owner/name`, `owner/name:version`, the id of a version, or `deployments/owner/name`. The body has only
 * members of the API, because the API refuses any other.
 */
export function createOf(call: SubmitCall): Create {
  const [, deployment] = /^deployments\/(.+)$/.exec(call.model) ?? []
  const path = deployment === undefined ? '/predictions' : `/deployments/${deployment}/predictions`
  const refusal = refusalOf(call)
  if (refusal !== undefined) return { path, body: { refusal } }
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
  }
}

/** The outcome of an answer to a create. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readCreated(answer: WholeAnswer): SubmitOutcome {
  const { status, body, contentType } = answer
  if (status >= 500) return { outcome: 'unknown', problem: problemOf(answer) }
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
export function readPrediction(answer: WholeAnswer): PollOutcome {
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
