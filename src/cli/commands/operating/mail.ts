import { withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'

/** Shows the mail server and its queue. */
export async function showMail(ask: Ask): Promise<Outcome> {
  const mail = await ask<{
    readonly server: string | null
    readonly operators: readonly string[]
    readonly waiting: number
    readonly left_out: number
  }>({ method: 'GET', path: 'mail' })
  const lines = [
    ['server', mail.server ?? 'none; no mails are sent'],
    ['operators', mail.operators.length === 0 ? 'none' : mail.operators.join(', ')],
    ['waiting', String(mail.waiting)],
    ['left out', String(mail.left_out)],
  ]
  return { value: mail, text: lines.map(([word = '', value]) => `${word.padEnd(9)}  ${value}`).join('\n') }
}

type MailReply = {
  readonly id: string
  readonly to: string
  readonly type: string | null
  readonly queued_at: string
  readonly state: 'waiting' | 'sent' | 'failed'
  readonly attempts: number
  readonly problem: string | null
}

export type MailFilters = {
  readonly limit: string
  readonly cursor?: string
  readonly state?: MailReply['state']
}

/** Lists the mails of 30 days, newest first. */
export async function listMails(ask: Ask, filters: MailFilters): Promise<Outcome> {
  const page = await ask<{ readonly data: readonly MailReply[]; readonly next: string | null }>({
    method: 'GET',
    path: withQuery('mail/messages', filters),
  })
  const rows = page.data.map(mail => [
    mail.id,
    mail.to,
    mail.type ?? 'left out',
    mail.queued_at,
    mail.state,
    String(mail.attempts),
    mail.problem ?? '',
  ])
  return {
    value: page,
    text:
      rows.length === 0
        ? 'No mails.'
        : table(['ID', 'TO', 'EVENT', 'AT', 'STATE', 'ATTEMPTS', 'PROBLEM'], rows),
    ...(page.next !== null && { note: `There are more: continue with --cursor ${page.next}` }),
  }
}

/** Each of 20 operators may take half a minute. */
const TEST_TIMEOUT_MS = 620_000

/** Sends a test mail, and prints what the mail server said. Exits with 1 if it did not take a mail. */
export async function testMail(ask: Ask, to: string | undefined): Promise<Outcome> {
  type Sent = { readonly to: string; readonly sent: boolean; readonly problem: string | null }
  const reply = await ask<{ readonly data: readonly Sent[] }>({
    method: 'POST',
    path: 'mail/test',
    json: { to },
    timeoutMs: TEST_TIMEOUT_MS,
  })
  const rows = reply.data.map(({ to: address, sent, problem }) => [
    sent ? 'sent' : 'FAILED',
    address,
    problem ?? '',
  ])
  return {
    value: reply,
    text: table(['', 'TO', 'PROBLEM'], rows),
    exitCode: reply.data.every(({ sent }) => sent) ? 0 : 1,
  }
}
