import { eventMail, leftOutMail, type MailText } from '../domain/mail/mail-text.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Leases } from '../gateway/ports/nodes/leases.ts'
import type { DueMail, Mail, Mailer, MailQueue, MailSettings } from '../gateway/ports/events/mail.ts'
import { DeliveryTurns, type Delivery } from './delivery-turns.ts'

/** Mails leave within a few seconds. */
const LOOK_EVERY_MS = 1500
/** The mails of one turn. Another node may take the next one. */
const MAILS_MAX = 20
/** A mailer ends within half a minute. */
const MAIL_MS_MAX = 30_000
/** How long mails that tell what was left out are kept. Others are removed with their events. */
const KEPT_MS = 30 * 24 * 3_600_000
/** The only receiver: the mail server. */
const SERVER = 0

export type MailPorts = {
  readonly mail: Mail
  readonly queue: MailQueue
  readonly leases: Leases
  readonly clock: Clock
  /** Undefined: no mails are sent. */
  readonly mailer: Mailer | undefined
  readonly settings: MailSettings
  /** False while other nodes share the books. They may have a mailer. */
  readonly isAlone: () => Promise<boolean>
  /** Called with the error if a mail could not be read or recorded. */
  readonly onFailed: (error: unknown) => void
  /** Called for the first failure in a row. */
  readonly onRefused: (problem: string) => void
  /** Called if this node has no mailer and leaves the mails to other nodes. */
  readonly onLeftToOthers: () => void
}

/**
 * Sends the mails about events. It stores the settings first. Without a mailer it does only that, and not even that
 * beside other nodes, because it would end their mails.
 */
export function mailDeliveries(ports: MailPorts): DeliveryTurns {
  const { mail, queue, leases, clock, mailer, settings, isAlone, onFailed, onRefused } = ports
  let isConfigured = false
  let isFailing = false

  async function configure(): Promise<void> {
    if (mailer !== undefined || (await isAlone())) return mail.configure(settings)
    if (await mail.isOn()) ports.onLeftToOthers()
  }

  async function sendNext(mailer: Mailer, signal: AbortSignal): Promise<Delivery> {
    const due = await queue.next(clock.now())
    if (due === undefined) return 'none'
    const { publicId: id, to, queuedAtMs: atMs } = due
    const result = await mailer.send({ id, to, atMs, ...textOf(due) }, signal)
    const isOut = result.outcome !== 'failed'
    // The process stops, so this was no failure of the server. The next process sends the mail again.
    if (signal.aborted && !isOut) return 'failed'
    await queue.record(due, { atMs: clock.now(), result })
    if (result.outcome !== 'sent' && !isFailing) onRefused(result.problem)
    isFailing = !isOut
    // Refusing one mail is no reason for a rest: the server can be asked to take another one.
    return isOut ? 'delivered' : 'failed'
  }

  return new DeliveryTurns({
    leases,
    clock,
    lookEveryMs: LOOK_EVERY_MS,
    receiversMax: 1,
    messagesMax: MAILS_MAX,
    messageMsMax: MAIL_MS_MAX,
    // Until it has taken a mail.
    failingMs: Infinity,
    leaseNameOf: () => 'mail',
    async due({ busy }) {
      if (!isConfigured) await configure()
      isConfigured = true
      if (mailer === undefined) return undefined
      if (busy.has(SERVER)) return []
      await queue.queueLeftOut(clock.now(), clock.now() - KEPT_MS)
      // Most looks find no mail, and need no lease.
      return (await queue.next(clock.now())) === undefined ? [] : [SERVER]
    },
    deliverNext: async (_, signal) => (mailer === undefined ? 'none' : sendNext(mailer, signal)),
    onFailed,
  })
}

function textOf({ about, isOperator }: DueMail): MailText {
  const reader = isOperator ? 'operator' : 'contact'
  return 'event' in about ? eventMail(about.event, reader) : leftOutMail(about.leftOut, reader)
}
