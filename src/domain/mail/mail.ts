import { eventTypes, type EventType } from '../webhooks/event.ts'
import { retryPauseMs } from '../webhooks/webhook.ts'

/** The contacts of one account. Each event is mailed to all of them. */
export const CONTACTS_MAX = 10

export const mailStates = ['waiting', 'sent', 'failed'] as const
export type MailState = (typeof mailStates)[number]

/** A mail to one address, as the log of mails shows it. */
export type MailMessage = {
  /** `msg_…` */
  readonly publicId: string
  readonly to: string
  /** The store's integer key of its account. Undefined for an operator. */
  readonly accountId: number | undefined
  /** Undefined for a mail that tells how many events were left out. */
  readonly event: { readonly publicId: string; readonly type: EventType } | undefined
  readonly queuedAtMs: number
  readonly state: MailState
  readonly attempts: number
  /** Null unless it is waiting. */
  readonly nextAttemptAtMs: number | null
  /** Null before the first attempt. */
  readonly attemptedAtMs: number | null
  /** Of the latest attempt. */
  readonly problem: string | null
}

/** What a mail server said to a mail. No outcome has the password of the server. */
export type MailOutcome =
  | { readonly outcome: 'sent' }
  /** The server refused the address or the mail for good. */
  | { readonly outcome: 'refused'; readonly problem: string }
  /** A later attempt may succeed. */
  | { readonly outcome: 'failed'; readonly problem: string }

/** What follows from an attempt to send a mail. `attempts` are those before it. */
export function afterMailAttempt(
  attempts: number,
  { outcome, atMs }: { readonly outcome: MailOutcome['outcome']; readonly atMs: number },
): { readonly state: MailState; readonly nextAttemptAtMs: number | null } {
  if (outcome === 'sent') return { state: 'sent', nextAttemptAtMs: null }
  const pauseMs = outcome === 'failed' ? retryPauseMs(attempts) : undefined
  if (pauseMs === undefined) return { state: 'failed', nextAttemptAtMs: null }
  return { state: 'waiting', nextAttemptAtMs: atMs + pauseMs }
}

/** An account that wants to be told of its jobs can have thousands a day. */
const frequentTypes: ReadonlySet<string> = new Set(['job.finished'])

/** Whether operators get mails about events of a type. Those of jobs are only for contacts of their account. */
export function isForOperators(type: EventType): boolean {
  return !frequentTypes.has(type)
}

/** The most mails in a day, to one address and in all. */
export type MailBounds = { readonly perAddress: number; readonly perDay: number }

/** The mails that were already queued on the day. */
export type QueuedMails = { readonly toAddress: number; readonly inAll: number }

/**
 * Whether another mail may be queued today. Jobs leave half of the room of an address for events about money. Events
 * about the gateway have as much room again, so that credits never push out a problem of the books. The mails of
 * contacts never push out those of operators.
 */
export function hasRoom(
  { type, isOperator }: { readonly type: EventType | undefined; readonly isOperator: boolean },
  { toAddress, inAll }: QueuedMails,
  { perAddress, perDay }: MailBounds,
): boolean {
  return toAddress < roomFor(type, perAddress) && (isOperator || inAll < perDay)
}

function roomFor(type: EventType | undefined, perAddress: number): number {
  if (type === undefined || eventTypes[type].about === 'gateway') return 2 * perAddress
  return frequentTypes.has(type) ? Math.ceil(perAddress / 2) : perAddress
}

const MS_PER_DAY = 86_400_000

/** The days since 1970, in UTC. */
export function mailDay(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY)
}

/** When the day of an instant began. What was left out before it is told. */
export function mailDayBegin(atMs: number): number {
  return mailDay(atMs) * MS_PER_DAY
}
