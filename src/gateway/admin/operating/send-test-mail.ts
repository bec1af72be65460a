import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import { isMailAddress, MAIL_ADDRESS } from '../../../domain/mail/mail-address.ts'
import type { MailOutcome } from '../../../domain/mail/mail.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Mailer } from '../../ports/events/mail.ts'

export type MailPorts = {
  /** Undefined without `TOLLGATE_SMTP_URL`. */
  readonly mailer: Mailer | undefined
  /** The addresses of operators. */
  readonly alertEmails: readonly string[]
}

export type TestMail = { readonly to: string; readonly result: MailOutcome }

/**
 * Sends a test mail now, to one address or to each of the operators, and tells what the server said. Test mails are not
 * queued, repeated or counted. Throws `mail_off` without a mail server, and `invalid_field` without an address.
 */
export async function sendTestMail(
  { to }: { readonly to: string | undefined },
  ports: MailPorts & { readonly clock: Clock; readonly newId: () => Id },
): Promise<readonly TestMail[]> {
  const { mailer, alertEmails } = ports
  if (mailer === undefined)
    throw new GatewayError(
      'mail_off',
      'No mail is sent, because TOLLGATE_SMTP_URL is not set. Set it and start the gateway again.',
    )
  if (to !== undefined && !isMailAddress(to)) throw wrongTo(`must be ${MAIL_ADDRESS}`)
  const addresses = to === undefined ? alertEmails : [to]
  if (addresses.length === 0) throw wrongTo('is missing, and TOLLGATE_ALERT_EMAILS has no address either')
  const sent: TestMail[] = []
  // One after the other, as the gateway sends alerts.
  for (const address of addresses) {
    const mail = {
      id: formatId('msg', ports.newId()),
      to: address,
      subject: 'Test mail',
      text: TEXT,
      atMs: ports.clock.now(),
    }
    sent.push({ to: address, result: await mailer.send(mail, new AbortController().signal) })
  }
  return sent
}

const TEXT = 'This is a test mail. If you read it, alerts of the gateway reach this address.\n'

function wrongTo(problem: string): GatewayError {
  return new GatewayError('invalid_field', `"to" ${problem}.`, { param: 'to' })
}
