import type {
  MediaInput,
  MediaResult,
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import type { BodyPart } from '../media/joined-body.ts'
import { jsonParts, type Members, type MemberValue } from '../media/json-parts.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { imageMembers } from './input-names.ts'
import { outputLinks } from './output-links.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they change the number of results. */
const OWN_FIELDS = new Set(['prompt', 'duration', 'num_outputs', 'num_images', 'number_of_images'])

/** Where a prediction is created, and the body of the create. */
export type Create = { readonly path: string; readonly body: readonly BodyPart[] }

/**
 * A model is `owner/name`, `owner/name:version`, the id of a version, or `deployments/owner/name`. The body has no
 * members but those of the API: it refuses any other.
 */
export function createOf(call: SubmitCall): Create {
  const input = inputOf(call)
  const [, deployment] = /^deployments\/(.+)$/.exec(call.model) ?? []
  if (deployment !== undefined)
    return { path: `/deployments/${deployment}/predictions`, body: jsonParts({ input }) }
  return { path: '/predictions', body: jsonParts({ version: call.model, input }) }
}

/** The input of the model. Bytes go as data URLs. */
function inputOf(call: SubmitCall): Members {
  const { model, prompt, params, durationMs, scenes, refUpstreamId } = call
  const videos = call.videos.map(inputValue)
  return {
    prompt,
    ...Object.fromEntries(Object.entries(params).filter(([name]) => !OWN_FIELDS.has(name))),
    duration: durationMs === undefined ? undefined : durationMs / 1000,
    ...imageMembers(model, call.images.map(inputValue)),
    video: videos.length > 1 ? videos : videos[0],
    prediction_id: refUpstreamId,
    scenes,
  }
}

function inputValue(input: MediaInput): MemberValue {
  switch (input.from) {
    case 'url':
      return input.url
    case 'provider_id':
      return input.id
    case 'bytes':
      return { dataUrl: input }
  }
}

/** What the answer to a create means. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readCreated(answer: WholeAnswer): SubmitOutcome {
  const { status, body, headers, retryAfterS } = answer
  if (status >= 500) return { outcome: 'unknown', problem: `status ${status}` }
  if (!isSuccess(answer)) {
    const { message } = readUpstreamError(body, headers['content-type'])
    const wait = retryAfterS === undefined ? {} : { retryAfterS }
    return { outcome: 'rejected', reason: reasonOf(status), status, message, ...wait }
  }
  const id = findJsonObject(body)?.['id']
  if (typeof id !== 'string' || !isUsableId(id))
    return { outcome: 'rejected', reason: 'no_id', status, message: 'The answer names no prediction.' }
  return { outcome: 'accepted', upstreamId: id }
}

function reasonOf(status: number): 'operator' | 'rate_limited' | 'invalid' {
  // 402: the operator's account has no credit.
  if (status === 401 || status === 402 || status === 403) return 'operator'
  if (status === 429) return 'rate_limited'
  // A redirect comes from a base URL that is not the provider's, and is never followed.
  return status < 400 ? 'operator' : 'invalid'
}

/** False for an id that no path can name. */
function isUsableId(id: string): boolean {
  return id.isWellFormed() && !/^\.{0,2}$/.test(id)
}

/** The path of a prediction under the base URL. */
export function pathOf(id: string): string {
  return `/predictions/${encodeURIComponent(id)}`
}

/** The state of a job in the answer to a query. */
export function readPrediction(answer: WholeAnswer): PollOutcome {
  const prediction = isSuccess(answer) ? findJsonObject(answer.body) : undefined
  const status = prediction?.['status']
  if (prediction === undefined || typeof status !== 'string' || status === '') return unavailable(answer)
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

const FAILED = 'The provider could not make the result and did not say why.'

/** Some models put a code into the text of the error, such as `(E005)`. */
function failureOf({ error }: Prediction, status: string): PollOutcome {
  const text = isJsonObject(error) ? error['detail'] : error
  if (typeof text !== 'string' || text === '')
    return { outcome: 'failed', message: FAILED, ...(status === 'failed' ? {} : { code: status }) }
  const [, code] = /\b(E\d{3,4})\b/.exec(text) ?? []
  return { outcome: 'failed', message: text, ...(code === undefined ? {} : { code }) }
}

function isSuccess({ status }: WholeAnswer): boolean {
  return status >= 200 && status <= 299
}

function unavailable({ status, retryAfterS }: WholeAnswer): PollOutcome {
  const wait = retryAfterS === undefined ? {} : { retryAfterS }
  return { outcome: 'unavailable', problem: `status ${status}`, ...wait }
}
