import { isMailAddress, type Mailbox } from '../domain/mail/mail-address.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Mailer, OutgoingMail, SmtpServer } from '../gateway/ports/events/mail.ts'

/** A mail server answers within a second; some of them let unknown clients wait for ten. */
const STEP_TIMEOUT_MS = 15_000
/** For a whole mail. A server could otherwise answer each command just in time. */
const MAIL_TIMEOUT_MS = 30_000
const PROBLEM_CHARS_MAX = 200

/** What nodemailer adds to an error. */
type SmtpError = Error & {
  readonly code?: string
  readonly command?: string
  /** The server's answer, with its number. */
  readonly response?: string
  readonly permanent?: boolean
}

/** A mail server over SMTP. Each mail has its own connection: there are few, and none is left open for hours. */
export function smtpMailer(
  server: SmtpServer,
  { from, clock }: { readonly from: Mailbox; readonly clock: Clock },
): Mailer {
  const { host, port, login } = server
  const problemOf = (error: unknown) => withoutLogin(problemIn(error), login)
  return {
    server: `${host.includes(':') ? `[${host}]` : host}:${port}`,

    async send(mail, signal) {
      // It would become several recipients.
      if (!isMailAddress(mail.to)) return { outcome: 'refused', problem: 'it is not an e-mail address' }
      const late = new AbortController()
      const cancel = clock.after(MAIL_TIMEOUT_MS, () => late.abort())
      try {
        const transport = await openTransport(server)
        await transport.sendMail({
          ...messageOf(mail, from),
          signal: AbortSignal.any([signal, late.signal]),
        })
        return { outcome: 'sent' }
      } catch (error) {
        if (late.signal.aborted) return { outcome: 'failed', problem: tooLate(MAIL_TIMEOUT_MS) }
        return { outcome: isFinal(error) ? 'refused' : 'failed', problem: problemOf(error) }
      } finally {
        cancel()
      }
    },

    async problem() {
      const late = Promise.withResolvers<string>()
      const cancel = clock.after(MAIL_TIMEOUT_MS, () => late.resolve(tooLate(MAIL_TIMEOUT_MS)))
      const checked = openTransport(server).then(async transport => {
        await transport.verify()
        return undefined
      })
      const problem = await Promise.race([checked, late.promise]).catch(problemOf)
      cancel()
      return problem
    },
  }
}

/** Loads nodemailer with the first mail: without one, a start does not pay for it. */
async function openTransport({ host, port, tls, login }: SmtpServer) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    ...(login !== undefined && { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** A mail in the words of nodemailer. */
function messageOf({ id, to, subject, text, atMs }: OutgoingMail, from: Mailbox) {
  return {
    from: { name: from.name, address: from.address },
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    date: new Date(atMs),
    messageId: `<${id}@${from.address.slice(from.address.indexOf('@') + 1)}>`,
    // No program answers it, such as "out of office".
    headers: { 'Auto-Submitted': 'auto-generated' },
    xMailer: false as const,
  }
}

function tooLate(limitMs: number): string {
  return `it took more than ${limitMs / 1000} s`
}

/**
 * Whether the server refused this address or this mail for good. A refused login or sender is a mistake of the
 * settings: the mail can be sent after it was corrected.
 */
function isFinal(error: unknown): boolean {
  const { permanent, command, code } = error as SmtpError
  return permanent === true && (command === 'RCPT TO' || (command === 'DATA' && code === 'EMESSAGE'))
}

/** `RCPT TO: 550 No such user here`, or why there was no answer. */
function problemIn(error: unknown): string {
  const { response, command = '', code, message } = error as SmtpError
  const text = response === undefined ? [code, message].filter(Boolean).join(': ') : `${command}: ${response}`
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, PROBLEM_CHARS_MAX)
}

/** A server may repeat what it was sent. */
function withoutLogin(text: string, login: SmtpServer['login']): string {
  if (login === undefined) return text
  const { user, password } = login
  const sent = [password, btoa64(password), btoa64(`\0${user}\0${password}`)]
  return sent.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '…')), text)
}

function btoa64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
