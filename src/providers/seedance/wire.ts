import type { MediaResult, PollOutcome, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { isUsableId, isSuccess, problemOf, UNEXPLAINED_FAILURE, unusable } from '../media/outcomes.ts'
import { millisecondsOf, linkOutput } from '../media/result-values.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { arkErrorOf, isOperatorError, readArkError, rejectionOf } from './ark-error.ts'

/** The outcome of an answer to a submit. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readSubmitted(answer: WholeAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: problemOf(answer, readArkError(body)?.code) }
  if (!isSuccess(answer)) return { outcome: 'rejected', ...rejectionOf(answer) }
  const id = findJsonObject(body)?.['id']
  if (isUsableId(id)) return { outcome: 'accepted', upstreamId: id }
  return {
    outcome: 'rejected',
    reason: 'no_id',
    status,
    message: 'The provider answered without the id of a task.',
  }
}

/** The state of a job in the answer to a poll. */
export function readTask(answer: WholeAnswer): PollOutcome {
  const task = findJsonObject(answer.body) ?? {}
  const { status: word } = task
  if (!isSuccess(answer) || typeof word !== 'string' || word === '')
    return unusable(answer, readArkError(answer.body)?.code)
  const state = stateOf[word.toLowerCase()]
  if (state === 'finished') return { outcome: 'finished', result: resultOf(task) }
  if (state === 'failed') return failureOf(task['error'])
  return { outcome: 'running', upstreamStatus: word, isKnownStatus: state === 'running' }
}

/** A task expires when the provider did not make it within the time that it sets itself. */
const stateOf: Readonly<Record<string, 'running' | 'finished' | 'failed'>> = {
  queued: 'running',
  running: 'running',
  succeeded: 'finished',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
}

function resultOf(task: Readonly<Record<string, unknown>>): MediaResult {
  const { content } = task
  const output = linkOutput(isJsonObject(content) ? content['video_url'] : undefined)
  const durationMs = durationOf(task)
  return {
    outputs: output === undefined ? [] : [output],
    isCounted: true,
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

/** A job has a duration, or a number of frames. */
function durationOf({
  duration,
  frames,
  framespersecond,
}: Readonly<Record<string, unknown>>): number | undefined {
  return millisecondsOf(duration) ?? millisecondsOf(Number(frames) / Number(framespersecond))
}

/** A failure because of the operator's account ends the job like any other. Its text is not shown to the client. */
function failureOf(value: unknown): PollOutcome {
  const error = arkErrorOf(value)
  if (error === undefined || isOperatorError(error))
    return { outcome: 'failed', message: UNEXPLAINED_FAILURE }
  const code = error.code === undefined ? {} : { code: error.code }
  return { outcome: 'failed', message: error.message ?? UNEXPLAINED_FAILURE, ...code }
}
