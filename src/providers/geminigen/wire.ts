import type { Provider } from '../../domain/catalog/provider.ts'
import type { JobKind } from '../../domain/jobs/job.ts'
import type {
  MediaResult,
  PollOutcome,
  SubmitOutcome,
  Rejection,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import {
  isUsableId,
  reasonOf,
  waitOf,
  isSuccess,
  statusProblem,
  UNEXPLAINED_FAILURE,
  unusable,
  type FailedJob,
} from '../media/outcomes.ts'
import { costOfCredits, linkOutput } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

type Item = Readonly<Record<string, unknown>>

/**
 * The outcome of an answer to a submission. A job that is finished already is accepted too: its first poll has the
 * result.
 */
export function readSubmitted(answer: MediaAnswer): SubmitOutcome {
  const { status, body } = answer
  const code = errorCodeOf(body)
  if (status >= 500) return { outcome: 'unknown', problem: statusProblem(answer, code) }
  if (!isSuccess(answer)) return { outcome: 'rejected', ...rejectionOf(answer) }
  const uuid = itemIn(body)?.['uuid']
  if (isUsableId(uuid)) return { outcome: 'accepted', upstreamId: uuid }
  if (code !== undefined) return { outcome: 'rejected', ...rejectionOf(answer) }
  return {
    outcome: 'rejected',
    reason: 'no_id',
    status,
    message: 'The provider answered without the id of a job.',
  }
}

/**
 * The job. Some deployments wrap it into `result` once or twice, and a wrapper may have its own status. So the
 * innermost object with an id is the job, or else the innermost one with a documented status.
 */
function itemIn(body: string): Item | undefined {
  const whole = findJsonObject(body)
  const once = whole?.['result']
  const twice = isJsonObject(once) ? once['result'] : undefined
  const items = [twice, once, whole].filter(isJsonObject)
  return (
    items.find(({ uuid }) => isUsableId(uuid)) ??
    items.find(({ status }) => stateOf.has(String(status))) ??
    items.find(item => 'status' in item)
  )
}

/** The state of a job in the answer to a poll. */
export function readHistory(
  answer: MediaAnswer,
  { kind, provider }: { readonly kind: JobKind; readonly provider: Pick<Provider, 'creditUsd'> },
): PollOutcome {
  const item = itemIn(answer.body) ?? {}
  const { status, status_desc: description } = item
  const isNamed = typeof status === 'number' || (typeof status === 'string' && status !== '')
  if (!isSuccess(answer) || !isNamed) return unusable(answer, errorCodeOf(answer.body))
  const state = stateOf.get(String(status))
  const cost = costOfCredits(item['used_credit'], provider)
  if (state === 'finished') return { outcome: 'finished', result: { ...resultOf(item, kind), ...cost } }
  if (state === 'failed') return { ...failureOf(item), ...cost }
  const shown =
    typeof description === 'string' && description !== '' ? `${status} ${description}` : String(status)
  return { outcome: 'running', upstreamStatus: shown, isKnownStatus: state === 'running' }
}

const stateOf = new Map<string, 'running' | 'finished' | 'failed'>([
  ['1', 'running'],
  ['2', 'finished'],
  ['3', 'failed'],
])

/** The links of the images or clips. Jobs with one result have `generate_result`. */
function resultOf(item: Item, kind: JobKind): MediaResult {
  const listed = item[kind === 'image' ? 'generated_image' : 'generated_video']
  const links = (Array.isArray(listed) ? listed : []).filter(isJsonObject).map(made => linkOf(made, kind))
  const outputs = links.flatMap(link => linkOutput(link) ?? [])
  const single = outputs.length > 0 ? undefined : linkOutput(item['generate_result'])
  return { outputs: single === undefined ? outputs : [single], isCounted: true }
}

function linkOf(made: Item, kind: JobKind): string | undefined {
  const [link] = textsOf([made[kind === 'image' ? 'image_url' : 'video_url'], made['file_download_url']])
  return link
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values.filter(value => typeof value === 'string' && value !== '') as string[]
}

/** A failure because of the operator's credit ends the job like any other. Its text is not shown to the client. */
function failureOf({ error_code: code, error_message: message }: Item): FailedJob {
  const [named] = textsOf([code])
  const [said = UNEXPLAINED_FAILURE] = textsOf([message])
  if (isOperatorCode(named)) return { outcome: 'failed', message: UNEXPLAINED_FAILURE }
  return { outcome: 'failed', message: said, ...(named === undefined ? {} : { code: named }) }
}

/** The code of an error: in `detail`, or beside it. */
export function errorCodeOf(body: string): string | undefined {
  const value = findJsonObject(body)
  const detail = value?.['detail']
  return codeIn(isJsonObject(detail) ? detail : undefined) ?? codeIn(value)
}

function codeIn(value: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const code = value?.['error_code']
  return typeof code === 'string' && code !== '' ? code : undefined
}

/** Codes about the operator's key, its credit, and the model that the row names. */
const OPERATOR_CODE = /^API_KEY_|_CREDITS?$|^INVALID_MODEL$/
const RATE_CODE = 'RATE_LIMIT_ERROR'

export function isOperatorCode(code: string | undefined): boolean {
  return code !== undefined && OPERATOR_CODE.test(code)
}

/** Why a submission was not accepted. */
function rejectionOf(answer: MediaAnswer): Rejection {
  const { status, contentType, body } = answer
  const code = errorCodeOf(body)
  return {
    reason: isOperatorCode(code) ? 'operator' : code === RATE_CODE ? 'rate_limited' : reasonOf(status),
    status,
    message: readUpstreamError(body, contentType).message,
    ...(code === undefined ? {} : { code }),
    ...waitOf(answer),
  }
}
