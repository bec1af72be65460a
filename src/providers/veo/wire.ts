import type { MediaOutput, PollOutcome, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { isSuccess, problemOf, UNEXPLAINED_FAILURE, unusable } from '../media/outcomes.ts'
import { base64Output, linkOutput } from '../media/result-values.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { googleErrorOf, isOperatorError, readGoogleError, rejectionOf } from '../gemini-api/google-error.ts'

/** The outcome of an answer to a submit. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readSubmitted(answer: WholeAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: problemOf(answer, codeOf(answer)) }
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
export function readOperation(answer: WholeAnswer): PollOutcome {
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

function codeOf({ body }: WholeAnswer): string | undefined {
  return readGoogleError(body)?.status
}
