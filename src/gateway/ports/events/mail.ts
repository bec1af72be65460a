import type { MailBounds, MailMessage, MailOutcome, MailState } from '../../../domain/mail/mail.ts'

/** A mail server, from `TOLLGATE_SMTP_URL`. */
export type SmtpServer = {
  readonly host: string
  readonly port: number
  /** TLS from the first byte, after the command STARTTLS, which is then required, or not at all. */
  readonly tls: 'implicit' | 'starttls' | 'off'
  readonly login: { readonly user: string; readonly password: string } | undefined
}

/** A mail in plain text to one address. */
export type OutgoingMail = {
  /** `msg_…`. The same for each attempt, so that mail programs can see a repeat. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly atMs: number
}

/** The mail server. Its methods never reject, and end within half a minute. */
export interface Mailer {
  /** `smtp.example.com:587`, without the login. */
  readonly server: string
  /** Hands a mail to the server. The signal ends it as failed; the server may have it already. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<MailOutcome>
  /** Connects, encrypts and logs in, and sends nothing. Undefined if the server accepts that. */
  problem(): Promise<string | undefined>
}

/** The mails about events. Their rows are written with the events, in the step of what happened. */
export interface Mail {
  /**
   * Makes the settings of this server those of the store: whether events are mailed, to which operators, and how many a
   * day. Addresses that are left out are removed with their mails. Without mails, those that wait end as failed.
   * Repeating it changes nothing.
   */
  configure(settings: MailSettings): Promise<void>

  /** Whether events are mailed, by the settings of the store. */
  isOn(): Promise<boolean>

  /** The mails of 30 days, newest first. Throws `invalid_field` for a cursor that the store did not give. */
  messages(page: {
    readonly limit: number
    readonly cursor?: string
    readonly state?: MailState
  }): Promise<{ readonly messages: readonly MailMessage[]; readonly next?: string }>

  /** The mails that wait, and the events that were left out on all days. */
  counts(): Promise<{ readonly waiting: number; readonly leftOut: number }>
}

export type MailSettings = MailBounds & {
  readonly isOn: boolean
  /** The addresses of the operators. */
  readonly operators: readonly string[]
}

/** The mails to send. A mail can be sent more than once, and in any order. */
export interface MailQueue {
  /** The mail that waits the longest. Undefined if the time of none has come. */
  next(nowMs: number): Promise<DueMail | undefined>

  /** Records how an attempt ended, and plans the next one. Does nothing if the mail is no longer waiting. */
  record(
    mail: Pick<DueMail, 'id'>,
    attempt: { readonly atMs: number; readonly result: MailOutcome },
  ): Promise<void>

  /**
   * Queues a mail for each address for which events were left out on days that ended, which tells their number. Removes
   * such mails from before `beforeMs`. Returns how many it queued.
   */
  queueLeftOut(nowMs: number, beforeMs: number): Promise<number>
}

export type DueMail = {
  /** The store's integer key. */
  readonly id: number
  /** `msg_…` */
  readonly publicId: string
  readonly to: string
  readonly isOperator: boolean
  readonly queuedAtMs: number
  /** The body of the event, or how many events were left out. */
  readonly about:
    | { readonly event: string }
    | { readonly leftOut: { readonly count: number; readonly sinceMs: number } }
}
