import { formatUsd, type NanoUsd } from '../money.ts'

/**
 * Every type of event, with what it tells. Types are API: once released they are never renamed. The table of
 * docs/webhooks.md has these sentences.
 */
export const eventTypes = {
  'balance.low': {
    about: 'account',
    meaning: "The balance fell below the account's alert. Once, until it rises again.",
  },
  'balance.granted': { about: 'account', meaning: 'An operator credited an account with a gift.' },
  'balance.topped_up': {
    about: 'account',
    meaning: 'An operator credited an account with money that the customer paid.',
  },
  'budget.nearly_spent': {
    about: 'account',
    meaning: 'At least 80 % of a budget is spent. Once a period.',
  },
  'budget.reached': {
    about: 'account',
    meaning: 'A budget is spent, or it refused its first request. Once a period.',
  },
  'job.finished': {
    about: 'account',
    meaning: 'An image or video job ended. Only for accounts with this switched on.',
  },
  'key.expiring': { about: 'account', meaning: 'A key expires within seven days. Once for each expiry.' },
  'provider.failing': {
    about: 'gateway',
    meaning: 'A provider has failed for a minute: no request to one of its models succeeds.',
  },
  'provider.recovered': {
    about: 'gateway',
    meaning: 'A provider that failed has had no open circuit breaker for five minutes.',
  },
  'books.problem': {
    about: 'gateway',
    meaning: 'A check of the books found a problem. Each problem is sent once in 30 days.',
  },
  'webhook.switched_off': {
    about: 'gateway',
    meaning: 'A webhook was switched off, because all its messages failed for three days.',
  },
  'webhook.test': { about: 'account', meaning: 'A test that an operator asked for. Every webhook gets it.' },
} as const satisfies Record<string, EventKind>

export type EventType = keyof typeof eventTypes

type EventKind = {
  /** Events about the gateway go only to webhooks of the operator. */
  readonly about: 'account' | 'gateway'
  readonly meaning: string
}

/** What happened, before it has an id. */
export type NewEvent = {
  readonly type: EventType
  /** Undefined for an event about the gateway. */
  readonly accountId?: number
  /** The members of `data` in the message, beside the account. */
  readonly data: Readonly<Record<string, unknown>>
  readonly atMs: number
  /** Events of one type with the same text are sent once. */
  readonly once?: string
}

export type EventAccount = { readonly id: string; readonly name: string }

/** The body of the messages of an event. Every attempt sends the same bytes, because its signature covers them. */
export function eventBody(
  id: string,
  { type, data, atMs }: NewEvent,
  account: EventAccount | undefined,
): string {
  const about = account === undefined ? {} : { account }
  return JSON.stringify({
    id,
    type,
    timestamp: new Date(atMs).toISOString(),
    data: { ...about, ...data },
  })
}

/** The event of a credit. Its note is for operators, and accounts are told of this event too. */
export function creditEvent(credit: {
  readonly accountId: number
  readonly source: 'cash' | 'promotions'
  readonly amount: NanoUsd
  readonly available: NanoUsd
  readonly atMs: number
}): NewEvent {
  const { accountId, source, amount, available, atMs } = credit
  return {
    type: source === 'cash' ? 'balance.topped_up' : 'balance.granted',
    accountId,
    data: { amount_usd: formatUsd(amount), available_usd: formatUsd(available) },
    atMs,
  }
}

/** The event of a problem that a check of the books found. */
export function booksProblemEvent(problem: {
  readonly id: string
  readonly message: string
  readonly atMs: number
}): NewEvent {
  const { id, message, atMs } = problem
  return { type: 'books.problem', data: { problem: id, message }, atMs, once: id }
}

/** When an account is told of a low balance. */
export type BalanceAlert = {
  readonly below: NanoUsd
  /** Whether it was told. It is told again after its balance was not below. */
  readonly isLow: boolean
}

/**
 * What follows from a balance: the alert to keep, and the event to send. Undefined if nothing changes. The balance
 * counts held money, which can still come back: otherwise each hold could send an event.
 */
export function balanceAlertAfter(
  { below, isLow }: BalanceAlert,
  {
    accountId,
    balance,
    atMs,
  }: { readonly accountId: number; readonly balance: NanoUsd; readonly atMs: number },
): { readonly alert: BalanceAlert; readonly event?: NewEvent } | undefined {
  if (balance < below === isLow) return undefined
  if (isLow) return { alert: { below, isLow: false } }
  const data = { balance_usd: formatUsd(balance), alert_below_usd: formatUsd(below) }
  return { alert: { below, isLow: true }, event: { type: 'balance.low', accountId, data, atMs } }
}
