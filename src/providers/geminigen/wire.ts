import type { JobKind } from '../../domain/jobs/job.ts'
import type { MediaResult, PollOutcome, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { isSuccess, problemOf, unusable } from '../media/outcomes.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { errorCodeOf, isOperatorCode, rejectionOf } from './geminigen-error.ts'

type Item = Readonly<Record<string, unknown>>

/** What the answer to a submit means. A job that is finished already is accepted too: its first poll has the result. */
export function readSubmitted(answer: WholeAnswer): SubmitOutcome {
  const { status, body } = answer
  const code = errorCodeOf(body)
  if (status >= 500) return { outcome: 'unknown', problem: problemOf(answer, code) }
  if (!isSuccess(answer)) return { outcome: 'rejected', ...rejectionOf(answer) }
  const uuid = itemIn(body)?.['uuid']
  if (typeof uuid === 'string' && uuid.isWellFormed() && !/^\.{0,2}$/.test(uuid))
    return { outcome: 'accepted', upstreamId: uuid }
  if (code !== undefined) return { outcome: 'rejected', ...rejectionOf(answer) }
  return {
    outcome: 'rejected',
    reason: 'no_id',
    status,
    message: 'The provider answered without the id of a job.',
  }
}

/** Some deployments wrap the job into `result` once or twice. */
function itemIn(body: string): Item | undefined {
  const whole = findJsonObject(body)
  const once = whole?.['result']
  const twice = isJsonObject(once) ? once['result'] : undefined
  return [whole, once, twice].filter(isJsonObject).find(item => 'uuid' in item || 'status' in item)
}

/** The state of a job in the answer to a poll. */
export function readHistory(answer: WholeAnswer, kind: JobKind): PollOutcome {
  const item = itemIn(answer.body) ?? {}
  const { status, status_desc: description } = item
  const isNamed = typeof status === 'number' || (typeof status === 'string' && status !== '')
  if (!isSuccess(answer) || !isNamed) return unusable(answer, errorCodeOf(answer.body))
  const state = stateOf[status]
  if (state === 'finished') return { outcome: 'finished', result: resultOf(item, kind) }
  if (state === 'failed') return failureOf(item)
  const shown =
    typeof description === 'string' && description !== '' ? `${status} ${description}` : String(status)
  return { outcome: 'running', upstreamStatus: shown, isKnownStatus: state === 'running' }
}

const stateOf: Readonly<Record<string | number, 'running' | 'finished' | 'failed'>> = {
  1: 'running',
  2: 'finished',
  3: 'failed',
}

/** The links of the images or clips. `generate_result` is there for jobs with one result. */
function resultOf(item: Item, kind: JobKind): MediaResult {
  const listed = item[kind === 'image' ? 'generated_image' : 'generated_video']
  const links = (Array.isArray(listed) ? listed : []).filter(isJsonObject).flatMap(made => linkOf(made, kind))
  const urls = links.length > 0 ? links : textsOf([item['generate_result']])
  return { outputs: urls.map(url => ({ from: 'url', url })), isCounted: true }
}

function linkOf(made: Item, kind: JobKind): readonly string[] {
  const names = kind === 'image' ? ['image_url', 'file_download_url'] : ['video_url', 'file_download_url']
  return textsOf(names.map(name => made[name])).slice(0, 1)
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values.filter(value => typeof value === 'string' && value !== '') as string[]
}

const FAILED = 'The provider could not make the result and did not say why.'

/** A failure about the operator's credit ends the job as any other does, and its text is not for the client. */
function failureOf({ error_code: code, error_message: message }: Item): PollOutcome {
  const [named] = textsOf([code])
  const [said = FAILED] = textsOf([message])
  if (isOperatorCode(named)) return { outcome: 'failed', message: FAILED }
  return { outcome: 'failed', message: said, ...(named === undefined ? {} : { code: named }) }
}
