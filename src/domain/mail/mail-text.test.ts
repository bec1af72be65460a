import { expect, test } from 'bun:test'
import { usd } from '../money.ts'
import {
  balanceAlertAfter,
  booksProblemEvent,
  eventBody,
  eventTypes,
  type EventType,
  type NewEvent,
} from '../webhooks/event.ts'
import { eventMail, leftOutMail } from './mail-text.ts'

const AT = Date.UTC(2026, 10, 21, 5, 50, 9, 183)
const ADA = { id: 'acct_1', name: 'ada' }

function bodyOf(event: NewEvent, account: typeof ADA | null = ADA): string {
  return eventBody('evt_1', event, account ?? undefined)
}

const low = balanceAlertAfter(
  { below: usd('5'), isLow: false },
  { accountId: 1, balance: usd('4.000000001'), atMs: AT },
)!.event!

test('a mail has what happened, exact amounts, the time, the id and what to do', () => {
  expect(eventMail(bodyOf(low), 'contact')).toEqual({
    subject: 'Low balance: ada',
    text: `The balance of the account fell below its alert.

Account: ada (acct_1)
Balance: 4.000000001 USD
Alert below: 5 USD
Time: 2026-11-21 05:50:09 UTC
Event: evt_1 (balance.low)

What to do: Add money. Requests are refused if the balance does not cover them.

You get this mail because you are a contact of this account. To stop these mails, ask support to remove the contact.
`,
  })
})

test('an operator reads another advice, and mails about the gateway name no account', () => {
  const problem = booksProblemEvent({ id: 'p1', message: 'Account "ada": balance is 5 USD.', atMs: AT })

  const { subject, text } = eventMail(bodyOf(problem, null), 'operator')

  expect(subject).toBe('Problem in the books')
  expect(text).toContain('Message: Account "ada": balance is 5 USD.\n')
  expect(text).toContain('What to do: Run "tollgate verify"')
  expect(text).toContain('TOLLGATE_ALERT_EMAILS has your address')
  expect(text).not.toContain('Account: ')
  expect(eventMail(bodyOf(low), 'operator').text).toContain('"tollgate grant"')
})

test.each(['a\r\nBcc: eve@example.com', 'a\n\nbody', 'a\u2028b', 'a\u0000b', `${'x'.repeat(600)}\nb`])(
  'names of accounts and keys never make a line: %j',
  text => {
    const data = { key: { id: 'key_1', name: text }, expires_at: '2026-11-28T00:00:00.000Z' }
    const event: NewEvent = { type: 'key.expiring', accountId: 1, data, atMs: AT }

    const mail = eventMail(bodyOf(event, { id: 'acct_1', name: text }), 'operator')

    expect(mail.subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    expect(mail.subject.length).toBeLessThan(130)
    expect(mail.text.split(/[\p{Cc}\p{Zl}\p{Zp}]/u)).toHaveLength(12)
    expect(mail.text).not.toMatch(/^(Bcc|body|b)/m)
  },
)

test('an event without a wording of its own is shown with all its values', () => {
  const body = JSON.stringify({
    id: 'evt_1',
    type: 'model.retired',
    timestamp: new Date(AT).toISOString(),
    data: { key: { id: 'key_1', name: 'ci' }, count: 3, spent_usd: '1.5', note: null, more: { x: 1 } },
  })

  const { subject, text } = eventMail(body, 'operator')

  expect(subject).toBe('model.retired')
  expect(text).toStartWith(
    'The event "model.retired" happened.\n\nKey: ci (key_1)\nCount: 3\nSpent: 1.5 USD\nTime: ',
  )
})

test('the mail that closes a day says how many events were left out, and since when', () => {
  const { subject, text } = leftOutMail({ count: 12, sinceMs: AT }, 'contact')

  expect(subject).toBe('12 events without a mail')
  expect(text).toContain('Since: 2026-11-21 05:50:09 UTC\n')
  expect(leftOutMail({ count: 1, sinceMs: AT }, 'operator').subject).toBe('1 event without a mail')
})

test('every type of event that is mailed has a subject in words', () => {
  const types = (Object.keys(eventTypes) as EventType[]).filter(type => type !== 'webhook.test')
  const subjects = types.map(
    type => eventMail(bodyOf({ type, data: {}, atMs: AT }, null), 'operator').subject,
  )

  expect(subjects.filter(subject => subject.includes('.'))).toEqual([])
})

test('a mail about a webhook that was switched off has its address', () => {
  const data = { webhook: 'whk_1', url: 'https://example.com/hook', problem: 'status 500' }

  const { text } = eventMail(bodyOf({ type: 'webhook.switched_off', data, atMs: AT }, null), 'operator')

  expect(text).toContain('Webhook: whk_1\nURL: https://example.com/hook\nProblem: status 500\n')
})
