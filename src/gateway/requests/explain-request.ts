import { isFinal, type Job } from '../../domain/jobs/job.ts'
import { describeUsd, ZERO } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import type { RecordedRequest, RefusedBy } from '../ports/requests/request-records.ts'
import type { BookedRequest, BookedCharge } from '../ports/ledger/booked-items.ts'
import type { FoundRequest } from './find-request.ts'

/** How a request ended, in one word. */
export const requestOutcomes = [
  'charged',
  // It was charged after its client got an error, and the charge was given back in the same step.
  'given_back',
  'replayed',
  // Its job has not ended.
  'running',
  'refused',
  'failed',
  // The client disconnected before there was anything to charge.
  'cancelled',
  // It succeeded, and there was nothing to charge.
  'uncharged',
] as const

export type RequestOutcome = (typeof requestOutcomes)[number]

export type RequestExplanation = {
  readonly outcome: RequestOutcome
  /** Sentences for people. */
  readonly why: readonly string[]
}

/** The status of a request whose client disconnected before its reply. */
const CLIENT_CLOSED = 499

/** Why a request was charged or refused. Customers do not see what concerns the providers. */
export function explainRequest(
  found: FoundRequest,
  { isForOperator }: { readonly isForOperator: boolean },
): RequestExplanation {
  const { record, booked, job } = found
  const outcome = outcomeOf(found)
  const why = [
    ...replyLines(record),
    ...moneyLines(found, outcome),
    ...(job === undefined ? [] : jobLines(job)),
    ...(isForOperator ? upstreamLines(record, booked) : []),
    ...recordLines(found),
  ]
  return { outcome, why }
}

function outcomeOf({ record, booked, job }: FoundRequest): RequestOutcome {
  if (record?.isReplay === true) return 'replayed'
  if (job !== undefined && !isFinal(job.state)) return 'running'
  if (booked?.attempts.some(({ state }) => state === 'compensated') === true) return 'given_back'
  if (booked?.charge !== undefined) return 'charged'
  if (job?.state === 'failed') return 'failed'
  // Only attempts are left of a request whose record is gone: its client got an error.
  if (record === undefined) return 'failed'
  const { status, errorCode } = record
  if (status === CLIENT_CLOSED || (record.clientDisconnected && errorCode === undefined)) return 'cancelled'
  if (status >= 500 || (status < 400 && errorCode !== undefined)) return 'failed'
  return status >= 400 ? 'refused' : 'uncharged'
}

function replyLines(record: RecordedRequest | undefined): readonly string[] {
  if (record === undefined) return []
  const { status, errorCode, refusedBy, clientDisconnected, isReplay, replayOf, alikeRefusals } = record
  const lines: string[] = []
  if (status >= 400 && status !== CLIENT_CLOSED)
    lines.push(`The reply was ${status}${errorCode === undefined ? '' : ` with the code ${errorCode}`}.`)
  if (refusedBy !== undefined) lines.push(`It was refused by ${limitText(refusedBy)}.`)
  if (status < 400 && errorCode !== undefined)
    lines.push(`The stream broke after it had begun, with the code ${errorCode}.`)
  if (clientDisconnected || status === CLIENT_CLOSED)
    lines.push('The client disconnected before the reply had ended.')
  if (isReplay)
    lines.push(
      `It got the answer of ${replayOf ?? 'an identical request'}. A replay is free and takes nothing of a limit.`,
    )
  if (alikeRefusals > 0)
    lines.push(
      `In the same minute, ${alikeRefusals} more requests of this key were refused with this code. They are only counted.`,
    )
  return lines
}

function limitText({ scope, limit }: RefusedBy): string {
  return `the limit "${limit.replaceAll('_', ' ')}" of its ${scopeTexts[scope]}`
}

const scopeTexts = {
  account: 'account',
  project: 'project',
  account_model: 'account with this model',
  key: 'API key',
  key_model: 'API key with this model',
} as const satisfies Record<RefusedBy['scope'], string>

function moneyLines({ record, booked, job }: FoundRequest, outcome: RequestOutcome): readonly string[] {
  const charge = booked?.charge
  if (record?.isReplay === true && job === undefined) return []
  if (charge !== undefined) return chargeLines(charge, outcome)
  if (outcome === 'running') return []
  if (record?.required !== undefined) {
    const had = record.available === undefined ? '' : `, and ${describeUsd(record.available)} was left for it`
    return [`It could cost up to ${describeUsd(record.required)}${had}. Nothing was charged.`]
  }
  return ['Nothing was charged.']
}

function chargeLines(charge: BookedCharge, outcome: RequestOutcome): readonly string[] {
  const lines = [`${describeUsd(charge.cost)} was charged for ${quantityOf(charge)}.`]
  if (charge.kind === 'text' && charge.provenance === 'estimated')
    lines.push('The tokens are an estimate, because the provider reported none.')
  if (charge.kind === 'text' && charge.isClamped)
    lines.push('A reported number of tokens was impossible, and the nearest possible one counts.')
  if (charge.shortfall > ZERO)
    lines.push(`The cost was ${describeUsd(charge.shortfall)} above the amount that was held.`)
  if (outcome === 'given_back')
    lines.push(
      'The client got an error, and the answer came later. The charge was given back in the same step, so it cost nothing.',
    )
  if (charge.refunded > ZERO) lines.push(`${describeUsd(charge.refunded)} of it was refunded.`)
  return lines
}

function quantityOf(charge: BookedCharge): string {
  switch (charge.kind) {
    case 'text':
      return `${inputTokens(charge.usage)} input tokens and ${outputTokens(charge.usage)} output tokens`
    case 'images':
      return charge.images === 1 ? '1 image' : `${charge.images} images`
    case 'video':
      return `${charge.durationMs / 1000} seconds of video`
  }
}

function jobLines({ state, failure, held }: Job): readonly string[] {
  switch (state) {
    case 'queued':
    case 'processing':
    case 'unknown_submit':
      return [`Its job has not ended. ${describeUsd(held)} is reserved for it.`]
    case 'completed':
      return []
    case 'failed':
      return failure === null ? ['Its job failed.'] : [`Its job failed: ${failure.message}`]
  }
}

/** For the operator. */
function upstreamLines(
  record: RecordedRequest | undefined,
  booked: BookedRequest | undefined,
): readonly string[] {
  const failed = (record?.attempts ?? []).flatMap(({ provider, reason }) =>
    reason === undefined ? [] : [`${provider} (${reason})`],
  )
  const late = (booked?.attempts ?? []).map(({ provider, state }) => `${provider} (${state})`)
  return [
    ...(failed.length === 0 ? [] : [`Upstreams that failed: ${failed.join(', ')}.`]),
    ...(late.length === 0 ? [] : [`Upstreams whose answers did not reach the client: ${late.join(', ')}.`]),
  ]
}

function recordLines({ record, recordProblem }: FoundRequest): readonly string[] {
  if (recordProblem !== undefined) return [`Its record could not be read: ${recordProblem}`]
  return record === undefined ? ['Its record is not kept, so its status and its duration are not known.'] : []
}
