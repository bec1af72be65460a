import type { EventType } from '../webhooks/event.ts'

/** A mail in plain text. The subject is one line. */
export type MailText = { readonly subject: string; readonly text: string }

/** Who reads a mail: an operator of the gateway, or a contact of an account. */
export type MailReader = 'operator' | 'contact'

type Wording = {
  /** The begin of the subject. */
  readonly title: string
  readonly sentence: string
  /** What to do. Contacts only get events about their account. */
  readonly operator: string
  readonly contact?: string
}

const NOTHING = 'Nothing. This mail is for your information.'

/** By the types of events. One without a wording is shown with its type. */
const wordings: Readonly<Record<string, Wording | undefined>> = {
  'balance.low': {
    title: 'Low balance',
    sentence: 'The balance of the account fell below its alert.',
    operator: 'Tell the customer, or credit the account with "tollgate grant".',
    contact: 'Add money. Requests are refused if the balance does not cover them.',
  },
  'balance.granted': {
    title: 'Credit',
    sentence: 'The account got a credit.',
    operator: NOTHING,
    contact: NOTHING,
  },
  'balance.topped_up': {
    title: 'Payment',
    sentence: 'A payment was credited to the account.',
    operator: NOTHING,
    contact: NOTHING,
  },
  'budget.nearly_spent': {
    title: 'Budget nearly spent',
    sentence: 'At least 80 % of a budget is spent.',
    operator: NOTHING,
    contact: 'Raise the budget if requests should go on after it is spent.',
  },
  'budget.reached': {
    title: 'Budget spent',
    sentence: 'A budget is spent. Requests that it covers are refused.',
    operator: 'Tell the customer, or raise the budget.',
    contact: 'Raise the budget, or wait until it begins again.',
  },
  'job.finished': {
    title: 'Job finished',
    sentence: 'An image or video job completed or failed.',
    operator: NOTHING,
    contact: 'Read the result of the job. A failed job costs nothing.',
  },
  'key.expiring': {
    title: 'Key expires',
    sentence: 'A key expires soon. Its requests are refused from then on.',
    operator: 'Tell the customer, or give the key another end with "tollgate keys set".',
    contact: 'Replace the key in your programs before it expires.',
  },
  'provider.failing': {
    title: 'Provider fails',
    sentence: 'A provider fails, and requests are kept away from it.',
    operator: 'Run "tollgate doctor", and look at the status page of the provider.',
  },
  'provider.recovered': {
    title: 'Provider recovered',
    sentence: 'A provider that failed answers again.',
    operator: NOTHING,
  },
  'books.problem': {
    title: 'Problem in the books',
    sentence: 'A check of the books found a problem. Paid requests that it concerns are refused.',
    operator: 'Run "tollgate verify", and follow the page "The books" of the documentation.',
  },
  'webhook.switched_off': {
    title: 'Webhook switched off',
    sentence: 'A webhook was switched off, because all its messages failed for three days.',
    operator: 'Repair its receiver. Then run "tollgate webhooks set WEBHOOK --on".',
  },
}

/** The parts of the body of an event that a mail shows. */
type EventBody = {
  readonly id: string
  readonly type: EventType
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

const SUBJECT_CHARS_MAX = 120
const VALUE_CHARS_MAX = 500
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The mail about an event, from the body that webhooks get. Amounts are exact: they are the texts of the event. */
export function eventMail(body: string, reader: MailReader): MailText {
  const { id, type, timestamp, data } = JSON.parse(body) as EventBody
  const wording = wordings[type] ?? {
    title: type,
    sentence: `The event "${type}" happened.`,
    operator: NOTHING,
  }
  const { title, sentence } = wording
  const advice = reader === 'operator' ? wording.operator : (wording.contact ?? NOTHING)
  const name = nameOf(data['account'])
  const lines = [
    sentence,
    '',
    ...Object.entries(data).flatMap(([member, value]) => lineOf(member, value)),
    `Time: ${utc(timestamp)}`,
    `Event: ${id} (${type})`,
    '',
    `What to do: ${advice}`,
    '',
    ...footer(reader),
  ]
  const subject = name === undefined ? title : `${title}: ${name}`
  return { subject: oneLine(subject, SUBJECT_CHARS_MAX), text: textOf(lines) }
}

/** The mail that closes a day on which events were left out. */
export function leftOutMail(
  { count, sinceMs }: { readonly count: number; readonly sinceMs: number },
  reader: MailReader,
): MailText {
  const events = count === 1 ? '1 event' : `${count} events`
  const limits = 'TOLLGATE_MAILS_PER_ADDRESS and TOLLGATE_MAILS_PER_DAY'
  const advice =
    reader === 'operator'
      ? `See the audit log and the statements of accounts. For more mails, raise ${limits}.`
      : 'Look at your balance, your usage and your statement.'
  return {
    subject: `${events} without a mail`,
    text: textOf([
      `You got no mail about ${events}, because an address gets a limited number of mails in a day.`,
      '',
      `Since: ${utc(new Date(sinceMs).toISOString())}`,
      '',
      `What to do: ${advice}`,
      '',
      ...footer(reader),
    ]),
  }
}

function footer(reader: MailReader): readonly string[] {
  return reader === 'operator'
    ? ['You get this mail because TOLLGATE_ALERT_EMAILS has your address.']
    : [
        'You get this mail because you are a contact of this account. To stop these mails, ask support to remove the contact.',
      ]
}

/** `balance_usd: "4.5"` is `Balance: 4.5 USD`. Values without a text are left out. */
function lineOf(member: string, value: unknown): readonly string[] {
  const isUsd = member.endsWith('_usd')
  const words = (isUsd ? member.slice(0, -'_usd'.length) : member).replaceAll('_', ' ')
  const text = textIn(value)
  if (text === undefined) return []
  const shown = INSTANT.test(text) ? utc(text) : oneLine(text, VALUE_CHARS_MAX)
  const label = words === 'url' ? 'URL' : words.slice(0, 1).toUpperCase() + words.slice(1)
  return [`${label}: ${shown}${isUsd ? ' USD' : ''}`]
}

function textIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.flatMap(each => textIn(each) ?? []).join(', ')
  if (typeof value !== 'object' || value === null) return undefined
  const { id, message } = value as { readonly id?: unknown; readonly message?: unknown }
  const name = nameOf(value)
  if (typeof id !== 'string') return typeof message === 'string' ? message : undefined
  return name === undefined ? id : `${name} (${id})`
}

function nameOf(value: unknown): string | undefined {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** Names are text of people. A line break in one must not make a line of the mail, or a header. */
function oneLine(text: string, charsMax: number): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line
}

/** `2026-11-21 05:50:09 UTC` */
function utc(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`
}

function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}
