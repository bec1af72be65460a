import type {
  MediaInput,
  MediaOutput,
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { googleErrorOf, isOperatorError, readGoogleError, rejectionOf } from '../gemini-api/google-error.ts'
import { hasReferences, otherParams, unsupportedScenes, secondsOf } from '../media/inputs.ts'
import { UNEXPLAINED_FAILURE, isSuccess, statusProblem, unusable } from '../media/outcomes.ts'
import { jsonParts, type InputBytes, type Members, type SubmitBody } from '../media/request-bodies.ts'
import { base64Output, linkOutput } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_PARAMETERS = new Set(['sampleCount', 'numberOfVideos', 'durationSeconds', 'prompt', 'model'])

/** The body of a `predictLongRunning` request, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): SubmitBody {
  const refusal = unsupportedScenes(call) ?? ownRefusal(call)
  if (refusal !== undefined) return { refusal }
  const { prompt } = call
  return jsonParts({
    instances: [{ prompt, ...imagesOf(call), video: videoOf(call.videos[0]) }],
    parameters: {
      ...parametersOf(call),
      // One clip is one job. The number that the client asked for never goes to a provider.
      sampleCount: 1,
      durationSeconds: secondsOf(call),
    },
  })
}

/** The API takes the bytes of images, and of a clip also its own link. It fetches nothing. */
function ownRefusal({ images, videos }: SubmitCall): string | undefined {
  if (images.some(({ from }) => from !== 'bytes'))
    return 'The provider accepts images only as files, and a linked image could not be fetched.'
  return videos.length > 1 ? 'The provider accepts only one video.' : undefined
}

function imagesOf(call: SubmitCall): Members {
  const files = call.images.filter(image => image.from === 'bytes').map(imageOf)
  if (hasReferences(call)) return { referenceImages: files.map(image => ({ image, referenceType: 'asset' })) }
  const [image, lastFrame] = files
  return { image, lastFrame }
}

function imageOf(input: InputBytes): Members {
  return { bytesBase64Encoded: input, mimeType: input.mediaType }
}

function videoOf(video: MediaInput | undefined): Members | undefined {
  switch (video?.from) {
    case undefined:
      return undefined
    case 'bytes':
      return { encodedVideo: video, encoding: video.mediaType }
    case 'url':
      return { uri: video.url }
    case 'provider_id':
      return { uri: video.id }
  }
}

/** The API writes its names in camel case: `aspect_ratio` of a row is its `aspectRatio`. */
function parametersOf(call: SubmitCall): Members {
  const named = Object.entries(otherParams(call)).map(([name, value]) => [camelCase(name), value] as const)
  return Object.fromEntries(named.filter(([name]) => !OWN_PARAMETERS.has(name)))
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** The outcome of an answer to a submission. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readSubmitted(answer: MediaAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: statusProblem(answer, codeOf(answer)) }
  if (!isSuccess(answer)) return { outcome: 'rejected', ...rejectionOf(answer) }
  const name = findJsonObject(body)?.['name']
  if (typeof name === 'string' && operationPath(name) !== undefined)
    return { outcome: 'accepted', upstreamId: name }
  const message = 'The provider answered without the name of an operation.'
  return { outcome: 'rejected', reason: 'no_id', status, message }
}

/** The path of an operation under the base URL. Undefined for a name that cannot be one. */
export function operationPath(name: string): string | undefined {
  const parts = name.split('/')
  const isUsable =
    name.isWellFormed() && parts.includes('operations') && parts.every(part => !/^\.{0,2}$/.test(part))
  return isUsable ? `/${parts.map(encodeURIComponent).join('/')}` : undefined
}

/** The state of a job in the answer to a poll. A name without `done` is a running job. */
export function readOperation(answer: MediaAnswer): PollOutcome {
  const operation = findJsonObject(answer.body)
  if (!isSuccess(answer) || typeof operation?.['name'] !== 'string') return unusable(answer, codeOf(answer))
  const { done, error, response } = operation
  if (done === undefined || done === false)
    return { outcome: 'running', upstreamStatus: 'running', isKnownStatus: true }
  if (done === true && isJsonObject(error)) return failureOf(error)
  const videos = isJsonObject(response) ? response['generateVideoResponse'] : undefined
  if (done === true && isJsonObject(videos)) return resultOf(videos)
  return {
    outcome: 'running',
    upstreamStatus: `done ${JSON.stringify(done)}, without a result`,
    isKnownStatus: false,
  }
}

/** An error because of the operator's project ends the job like any other. Its text is not shown to the client. */
function failureOf(status: Readonly<Record<string, unknown>>): PollOutcome {
  const error = googleErrorOf(status)
  if (isOperatorError(error) || error.status === 'RESOURCE_EXHAUSTED')
    return { outcome: 'failed', message: UNEXPLAINED_FAILURE }
  const code = error.status === undefined ? {} : { code: error.status }
  return { outcome: 'failed', message: error.message ?? UNEXPLAINED_FAILURE, ...code }
}

/** Clips that the content filter has removed are not in the list. If no clip is left, the job has failed. */
function resultOf(response: Readonly<Record<string, unknown>>): PollOutcome {
  const {
    generatedSamples: samples,
    raiMediaFilteredCount: filtered,
    raiMediaFilteredReasons: reasons,
  } = response
  const outputs = (Array.isArray(samples) ? samples : []).flatMap(sample => outputOf(sample) ?? [])
  if (outputs.length > 0 || !(Number(filtered) > 0))
    return { outcome: 'finished', result: { outputs, isCounted: true } }
  const texts = (Array.isArray(reasons) ? reasons : []).filter(
    reason => typeof reason === 'string' && reason !== '',
  )
  const message = texts.length === 0 ? "The provider's content filter removed the video." : texts.join(' ')
  return { outcome: 'failed', code: 'RAI_MEDIA_FILTERED', message }
}

function outputOf(sample: unknown): MediaOutput | undefined {
  const video = isJsonObject(sample) ? sample['video'] : undefined
  if (!isJsonObject(video)) return undefined
  const { uri, encodedVideo } = video
  return linkOutput(uri) ?? base64Output(encodedVideo)
}

/**
 * A link to the API's own host needs the key, and the request for the bytes: without `alt=media`, the API answers with
 * a description of the file. Links to any other place are left as they are, and never get the key.
 */
export function withKey(
  output: MediaOutput,
  { url: own, key }: { readonly url: URL; readonly key: string | null },
): MediaOutput {
  const url = output.from === 'url' ? URL.parse(output.url) : null
  if (url === null || url.origin !== own.origin) return output
  if (/\/files\/[^/:]+$/.test(url.pathname)) url.pathname += ':download'
  if (url.pathname.endsWith(':download')) url.searchParams.set('alt', 'media')
  if (key === null) return { from: 'url', url: url.href }
  return {
    from: 'url',
    url: url.href,
    authorization: { hosts: [own.host], headers: { 'x-goog-api-key': key } },
  }
}

function codeOf({ body }: MediaAnswer): string | undefined {
  return readGoogleError(body)?.status
}
