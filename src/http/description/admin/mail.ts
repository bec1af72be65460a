import { mailStates } from '../../../domain/mail/mail.ts'
import { eventTypes } from '../../../domain/webhooks/event.ts'
import { ACCOUNT } from './accounts.ts'
import { bodyOf, ok, pageParameters, type Paths } from '../operation.ts'
import {
  about,
  closed,
  count,
  dateTime,
  flag,
  idOf,
  listOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  words,
  type Members,
} from '../schema.ts'

export const adminMailSchemas: Members = {
  MailState: object({
    server: about('The mail server. Null if no mails are sent.', nullable(text)),
    operators: about('The addresses of `TOLLGATE_ALERT_EMAILS`.', listOf(text)),
    waiting: count,
    left_out: about('The events that were left out, because an address gets a limited number a day.', count),
  }),
  MailMessage: object({
    id: idOf('msg'),
    to: text,
    account: about('Null for an operator.', nullable(idOf('acct'))),
    event: about('Null for a mail that tells how many events were left out.', nullable(idOf('evt'))),
    type: nullable(words(Object.keys(eventTypes))),
    queued_at: dateTime,
    state: about('`sent`: the mail server took it.', words(mailStates)),
    attempts: count,
    next_attempt_at: nullable(dateTime),
    attempted_at: nullable(dateTime),
    problem: about('Why the latest attempt failed. Null if it succeeded.', nullable(text)),
  }),
  MailTest: closed({}, { to: about('Default: each address of `TOLLGATE_ALERT_EMAILS`.', nullable(text)) }),
  SentTestMail: object({
    to: text,
    sent: about('Whether the mail server took it.', flag),
    problem: about('Why it did not. Null if it did.', nullable(text)),
  }),
}

const AT = '2026-11-21T05:50:09.183Z'
const common = { tag: 'Admin: mail', access: 'admin' } as const

/** Mails about events. */
export const adminMailPaths: Paths = {
  mail: {
    get: {
      ...common,
      id: 'readMail',
      summary: 'The mail server and its queue',
      replies: ok('The mail server.', ref('MailState'), {
        server: 'mail.example.com:587',
        operators: ['ops@example.com'],
        waiting: 1,
        left_out: 0,
      }),
      errors: [],
    },
  },
  'mail/messages': {
    get: {
      ...common,
      id: 'listMails',
      summary: 'The mails of 30 days, newest first',
      parameters: [
        ...pageParameters,
        { name: 'state', in: 'query', description: 'Only those in this state.', schema: words(mailStates) },
      ],
      replies: ok('A page.', pageSchema(ref('MailMessage')), {
        data: [
          {
            id: 'msg_01m7yafb7z000c1awn4tmfekz0',
            to: 'ada@example.com',
            account: ACCOUNT,
            event: 'evt_01m7yafb7z000c1awn4tmfekz0',
            type: 'balance.low',
            queued_at: AT,
            state: 'waiting',
            attempts: 1,
            next_attempt_at: '2026-11-21T05:50:14.183Z',
            attempted_at: AT,
            problem: 'RCPT TO: 450 Mailbox busy',
          },
        ],
        has_more: false,
        next: null,
      }),
      errors: ['invalid_field'],
    },
  },
  'mail/test': {
    post: {
      ...common,
      id: 'sendTestMail',
      summary: 'Send a test mail now',
      description: 'The reply has what the mail server said. Test mails are not repeated.',
      body: bodyOf('MailTest', { to: 'ops@example.com' }, { isRequired: false }),
      replies: ok('What the mail server said.', object({ data: listOf(ref('SentTestMail')) }), {
        data: [{ to: 'ops@example.com', sent: false, problem: 'RCPT TO: 550 No such user' }],
      }),
      errors: ['mail_off'],
    },
  },
}
