import { mailStates, type MailMessage } from '../../../domain/mail/mail.ts'
import { instant } from '../../../domain/time.ts'
import { sendTestMail } from '../../../gateway/admin/operating/send-test-mail.ts'
import type { BufferedReply } from '../../request-context.ts'
import { optionalTextField, readFields, wrongField } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { OperatingPorts } from '../ports.ts'
import { readAdminPage } from '../query.ts'

/** The mail server and its queue. */
export async function getMail(
  _: AdminCall,
  { mail, mailer, alertEmails }: OperatingPorts,
): Promise<BufferedReply> {
  const { waiting, leftOut } = await mail.counts()
  return adminReply({
    server: mailer?.server ?? null,
    operators: alertEmails,
    waiting,
    left_out: leftOut,
  })
}

/** One page of the mails of 30 days, newest first. */
export async function listMails({ query }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query, ['state'])
  const word = query.get('state')
  const state = mailStates.find(known => known === word)
  if (word !== null && state === undefined)
    throw wrongField('state', `must be one of ${mailStates.join(', ')}`)
  const { messages, next } = await ports.mail.messages({
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(state === undefined ? {} : { state }),
  })
  const data = await Promise.all(messages.map(message => mailBody(message, ports)))
  return adminReply({ data, has_more: next !== undefined, next: next ?? null })
}

async function mailBody(mail: MailMessage, { accounts }: OperatingPorts): Promise<object> {
  const { publicId, to, accountId, event, queuedAtMs, state, attempts, problem } = mail
  const account = accountId === undefined ? undefined : await accounts.findAccountById(accountId)
  return {
    id: publicId,
    to,
    account: account?.publicId ?? null,
    event: event?.publicId ?? null,
    type: event?.type ?? null,
    queued_at: instant(queuedAtMs),
    state,
    attempts,
    next_attempt_at: mail.nextAttemptAtMs === null ? null : instant(mail.nextAttemptAtMs),
    attempted_at: mail.attemptedAtMs === null ? null : instant(mail.attemptedAtMs),
    problem,
  }
}

/** Sends a test mail to an address, or to each of the operators, and replies with what the mail server said. */
export async function postMailTest({ request }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const fields = await readFields(request, ['to'])
  const to = optionalTextField(fields, 'to', 'an e-mail address')
  const sent = await sendTestMail({ to }, ports)
  return adminReply({
    data: sent.map(({ to: address, result }) => ({
      to: address,
      sent: result.outcome === 'sent',
      problem: result.outcome === 'sent' ? null : result.problem,
    })),
  })
}
