import { GatewayError } from '../../domain/errors.ts'
import { fitsAfterText, type Shortage } from '../../domain/ledger/hold.ts'
import type { StrictestRates } from '../../domain/limits/admission.ts'
import { formatUsd, type NanoUsd } from '../../domain/money.ts'
import type { TextRequest } from '../../protocol/text-dialect.ts'
import type { Limited } from '../ports/ledger/limits.ts'
import { affordableCeiling, type Quote } from '../text/quote-text.ts'
import type { RatesRecord } from './admit-caller.ts'
import { limitError, refusedBy, type Asked } from './refuse-limits.ts'

/** What a text request or a job takes from its account. */
export type Spend = {
  /** The most that it can cost. */
  readonly amount: NanoUsd
  /** A text request and its quote, from which a refusal says what would fit. Absent for a job. */
  readonly text?: { readonly request: TextRequest; readonly quote: Quote }
}

/** The outcomes of a step that took nothing. */
type SpendRefused = ({ readonly outcome: 'refused' } & Shortage) | Limited

/**
 * Admits a request to spend, after its model is known and its text was moderated. `outcome` is that of one step of a
 * store, which took all that the request needs, or nothing: its part of limits and budgets, and the hold of a text
 * request, or the record of a job with its hold. Throws `insufficient_balance` or `budget_exceeded`;
 * `balance_reserved`, `budget_reserved` or the code of a limit if a repeat can help. The headers of the reply say what
 * is left of the limits.
 */
export function admitted<Placed extends { readonly outcome: string; readonly rates?: StrictestRates }>(
  outcome: Placed | SpendRefused,
  spend: Spend,
  record: RatesRecord,
): Placed {
  if ('rates' in outcome && outcome.rates !== undefined) record.rates = outcome.rates
  if (!isRefused(outcome)) return outcome
  if (outcome.outcome === 'refused') throw moneyRefusal(spend, outcome)
  record.refusedBy = refusedBy(outcome.refusal)
  const { amount, text } = spend
  throw limitError(outcome.refusal, { amount, ...(text && ceilingOf(text)) })
}

function isRefused(placed: { readonly outcome: string }): placed is SpendRefused {
  return placed.outcome === 'refused' || placed.outcome === 'limited'
}

/** The `Retry-After` of a request whose money is held by running requests. */
const RESERVED_RETRY_AFTER_S = '2'

/**
 * The error for a request whose worst case is not available. If running text requests hold what a text request needs, a
 * repeat can help; otherwise only more money or a smaller request can.
 */
function moneyRefusal({ amount, text }: Spend, shortage: Shortage): GatewayError {
  const { available, held, heldText } = shortage
  const ceiling = text && affordableCeiling(text.quote, available)
  const extensions = {
    required_usd: formatUsd(amount),
    available_usd: formatUsd(available),
    held_usd: formatUsd(held),
    ...(ceiling === undefined ? {} : { max_affordable_output_tokens: ceiling }),
  }
  if (text === undefined) {
    const message = `This job reserves ${formatUsd(amount)} USD, and ${formatUsd(available)} USD is available. Add funds.`
    return new GatewayError('insufficient_balance', message, { extensions })
  }
  const isReserved = fitsAfterText(shortage, amount)
  const message = sentencesOf(text, { available, heldText, ceiling, isReserved }).join(' ')
  return isReserved
    ? new GatewayError('balance_reserved', message, {
        extensions,
        retryAfter: RESERVED_RETRY_AFTER_S,
        shouldRetry: true,
      })
    : new GatewayError('insufficient_balance', message, { extensions })
}

function ceilingOf({ request: { outputCeilingField: field }, quote }: TextSpend): Pick<Asked, 'ceiling'> {
  if (field === undefined) return {}
  return { ceiling: { field, affordable: left => affordableCeiling(quote, left) } }
}

type Balance = {
  readonly available: NanoUsd
  readonly heldText: NanoUsd
  readonly ceiling: number | undefined
  readonly isReserved: boolean
}

type TextSpend = NonNullable<Spend['text']>

function sentencesOf(text: TextSpend, balance: Balance): readonly string[] {
  const { inputTokensEstimate, outputCeilingField: field } = text.request
  const { available, heldText, ceiling, isReserved } = balance
  const remedies = [
    ...(isReserved ? ['retry when they have ended'] : []),
    ...(ceiling === undefined ? [] : [`set \`${field}\` to ${ceiling} or less`]),
    'add funds',
  ]
  const remedy = remedies.length === 1 ? 'add funds' : `${remedies.slice(0, -1).join(', ')}, or add funds`
  return [
    `This request must hold ${formatUsd(text.quote.amount)} USD: for about ${tokensOf(text)}.`,
    `The available balance is ${formatUsd(available)} USD.`,
    ...(isReserved ? [`Running requests of this account hold ${formatUsd(heldText)} USD more.`] : []),
    ...(inputTokensEstimate === Infinity
      ? ['Content that it only references (a stored conversation, a file) counts as a full context window.']
      : []),
    ...(ceiling === undefined && field !== undefined ? [`No lower \`${field}\` would fit.`] : []),
    `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`,
  ]
}

/** The tokens that the hold is for, and where the output ceiling comes from. */
function tokensOf({
  request: { outputCeiling: asked, outputCeilingField: field },
  quote: {
    worst: { inputTokens, outputTokens, choices },
  },
}: TextSpend): string {
  const input = `${inputTokens} input tokens`
  if (field === undefined) return input
  const output = `${input} and up to ${choices === 1 ? '' : `${choices} × `}${outputTokens} output tokens`
  if (asked === undefined) return `${output}, the limit of the model, because \`${field}\` is not set`
  return `${output}, ${asked <= outputTokens ? `its \`${field}\`` : 'the limit of the model'}`
}
