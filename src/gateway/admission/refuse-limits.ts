import { GatewayError, type ErrorExtras } from '../../domain/errors.ts'
import type { LimitRefusal } from '../../domain/limits/admission.ts'
import type { Scope } from '../../domain/limits/scope.ts'
import { formatUsd, type NanoUsd } from '../../domain/money.ts'
import type { RefusedBy } from '../ports/requests/request-records.ts'
import { formatInstant } from '../../protocol/rate-limit-headers.ts'

const MS_PER_S = 1000
/** Some client libraries ignore a longer wait and retry at once, and others sleep for all of it. */
const RETRY_MS_MAX = 60_000
/** The `Retry-After` of a request that running requests have no room for. They end within seconds. */
const SLOT_RETRY_AFTER_S = '1'
const RESERVED_RETRY_AFTER_S = '2'

/** What a refused request asked for. */
export type Asked = {
  /** The most that it can cost. */
  readonly amount: NanoUsd
  /**
   * The field of the output ceiling, and the largest one that an amount can pay for. Absent for embeddings and jobs.
   */
  readonly ceiling?: {
    readonly field: string
    readonly affordable: (amount: NanoUsd) => number | undefined
  }
}

/** The refusal in the record of its request. */
export function refusedBy(refusal: LimitRefusal): RefusedBy {
  const { scope, limit } = refusal
  return { scope: scope.kind, limit: limit === 'budget' ? `${refusal.period}_budget` : limit }
}

/** The error for a request that a limit or a budget refuses. It names the scope, the limit and when to retry. */
export function limitError(refusal: LimitRefusal, asked: Asked): GatewayError {
  const { scope, limit } = refusal
  const who = describeScope(scope)
  switch (limit) {
    case 'requests_per_minute': {
      const message = `${who} may send ${counted(refusal.allowed, 'request', 'requests')} a minute.`
      return new GatewayError(
        limit,
        `${message} ${retrySentence(refusal.waitMs)}`,
        retryExtras(refusal.waitMs),
      )
    }
    case 'tokens_per_minute': {
      const message = `${who} may use ${counted(refusal.allowed, 'token', 'tokens')} a minute, and this request can use ${refusal.asked}.`
      return refusal.waitMs === undefined
        ? new GatewayError(limit, `${message} Send a smaller request.`, { shouldRetry: false })
        : new GatewayError(limit, `${message} ${retrySentence(refusal.waitMs)}`, retryExtras(refusal.waitMs))
    }
    case 'concurrent_requests':
      return new GatewayError(
        limit,
        `${who} may have ${counted(refusal.allowed, 'open request or job', 'open requests and jobs')}. Retry when one has ended.`,
        { retryAfter: SLOT_RETRY_AFTER_S, shouldRetry: true },
      )
    case 'budget':
      return budgetError(refusal, asked)
  }
}

function budgetError(
  refusal: Extract<LimitRefusal, { limit: 'budget' }>,
  { amount, ceiling }: Asked,
): GatewayError {
  const { scope, period, allowed, remaining, affordable, isReserved, resetsAtMs } = refusal
  const fitting = ceiling?.affordable(affordable)
  const resetsAt = resetsAtMs === undefined ? undefined : formatInstant(resetsAtMs)
  const extensions = {
    required_usd: formatUsd(amount),
    remaining_usd: formatUsd(remaining),
    ...(resetsAt === undefined ? {} : { resets_at: resetsAt }),
    ...(fitting === undefined ? {} : { max_affordable_output_tokens: fitting }),
  }
  const usd = formatUsd(allowed)
  const budget = period === 'total' ? `a total budget of ${usd} USD` : `a budget of ${usd} USD a ${period}`
  const message = [
    `${describeScope(scope)} has ${budget}, of which ${formatUsd(remaining)} USD is left.`,
    `This request can cost up to ${formatUsd(amount)} USD.`,
  ]
  const shorter = fitting === undefined ? undefined : `\`${ceiling?.field}\` to ${fitting} or less`
  if (isReserved) {
    const orShorter = shorter === undefined ? '' : `, or set ${shorter}`
    message.push(`Running requests reserve what it needs. Retry when they have ended${orShorter}.`)
    const extras = { extensions, retryAfter: RESERVED_RETRY_AFTER_S, shouldRetry: true }
    return new GatewayError('budget_reserved', message.join(' '), extras)
  }
  if (shorter !== undefined) message.push(`Set ${shorter}.`)
  if (resetsAt !== undefined) message.push(`The budget resets at ${resetsAt}.`)
  return new GatewayError('budget_exceeded', message.join(' '), { extensions })
}

function describeScope({ kind, model }: Scope): string {
  switch (kind) {
    case 'account':
      return 'This account'
    case 'project':
      return 'The project of this API key'
    case 'account_model':
      return `This account with the model "${model}"`
    case 'key':
      return 'This API key'
    case 'key_model':
      return `This API key with the model "${model}"`
  }
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

function retryExtras(waitMs: number): ErrorExtras {
  return { retryAfter: `${secondsOf(waitMs)}`, shouldRetry: waitMs <= RETRY_MS_MAX }
}

function retrySentence(waitMs: number): string {
  return `Retry in ${secondsOf(waitMs)} s.`
}

/** Rounded up: a client that retries earlier is refused again. */
function secondsOf(waitMs: number): number {
  return Math.ceil(waitMs / MS_PER_S)
}
