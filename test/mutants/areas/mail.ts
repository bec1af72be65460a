import type { Mutant } from '../mutant.ts'

const MAIL = 'src/domain/mail/mail.ts'
const RECEIVERS = 'src/stores/books/events/receivers.ts'
const RECIPIENTS = 'src/stores/books/events/mail-recipients.ts'
const STORE_TESTS = 'src/stores/books/events/mails.test.ts'
const BOUND_TESTS = 'src/domain/mail/mail.test.ts'

/** Faults in who gets mails, in how many, and in what a mail says. */
export const mailMutants: readonly Mutant[] = [
  {
    name: 'the contacts of all accounts are mailed about one of them',
    file: RECEIVERS,
    text: '(mails.get(accountId) ?? [])',
    replacement: '[...mails.values()].flat()',
    tests: [STORE_TESTS, 'test/scenarios/events/mail.test.ts'],
  },
  {
    name: 'the mails of contacts push out those of operators',
    file: MAIL,
    text: '(isOperator || inAll < perDay)',
    replacement: 'inAll < perDay',
    tests: [STORE_TESTS, BOUND_TESTS],
  },
  {
    name: 'mails about jobs push out those about money',
    file: MAIL,
    text: 'Math.ceil(perAddress / 2)',
    replacement: 'perAddress',
    tests: [BOUND_TESTS],
  },
  {
    name: 'credits push out a problem of the books',
    file: MAIL,
    text: 'return 2 * perAddress',
    replacement: 'return perAddress',
    tests: [STORE_TESTS, BOUND_TESTS],
  },
  {
    name: 'events that were left out are told again',
    file: RECIPIENTS,
    text: "yield* run('UPDATE mail_recipients SET left_out = 0, left_out_since_ms = NULL WHERE id = ?', id)",
    replacement: '',
    tests: [STORE_TESTS],
  },
  {
    name: 'a mail that the server refused is tried again',
    file: MAIL,
    text: "outcome === 'failed' ? retryPauseMs(attempts) : undefined",
    replacement: 'retryPauseMs(attempts)',
    tests: [STORE_TESTS],
  },
  {
    name: 'a mail that a stop ended counts as a failure of the server',
    file: 'src/reconciler/send-mails.ts',
    text: "if (signal.aborted && !isOut) return 'failed'",
    replacement: '',
    tests: ['src/reconciler/send-mails.test.ts'],
  },
  {
    name: 'a line break in the name of a key makes a line of a mail',
    file: 'src/domain/mail/mail-text.ts',
    text: "text.replaceAll(/[\\p{Cc}\\p{Zl}\\p{Zp}]+/gu, ' ')",
    replacement: 'text',
    tests: ['src/domain/mail/mail-text.test.ts'],
  },
  {
    name: 'the log of mails shows the password of the mail server',
    file: 'src/smtp/smtp-mailer.ts',
    text: 'withoutLogin(problemIn(error), login)',
    replacement: 'problemIn(error)',
    tests: ['src/smtp/smtp-mailer.test.ts'],
  },
]
