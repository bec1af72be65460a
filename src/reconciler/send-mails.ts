import { eventMail, leftOutMail, type MailText } from '../domain/mail/mail-text.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Leases } from '../gateway/ports/leases.ts'
import type { DueMail, Mail, Mailer, MailQueue, MailSettings } from '../gateway/ports/mail.ts'

/** Mails leave within a few seconds. */
const LOOK_EVERY_MS = 1500
/** The mails of one turn. Another node may take the next one. */
const MAILS_MAX = 20
/** A mailer ends within half a minute. Longer than a turn: no mail is sent by two nodes at the same time. */
const LEASE_MS = MAILS_MAX * 30_000 + 60_000
/** After a failure, other mails wait too: the server is probably down. Each rest in a row is twice as long. */
const REST_MS = 4000
const REST_MS_MAX = 60_000
/** How long mails that tell what was left out are kept. Others are removed with their events. */
const KEPT_MS = 30 * 24 * 3_600_000

export type MailSenderPorts = {
  readonly mail: Mail
  readonly queue: MailQueue
  readonly leases: Leases
  readonly clock: Clock
  /** Undefined: no mails are sent. */
  readonly mailer: Mailer | undefined
  readonly settings: MailSettings
  /** Called with the error if a mail could not be read or recorded. */
  readonly onFailed: (error: unknown) => void
  /** Called for the first failure in a row. */
  readonly onRefused: (problem: string) => void
}

/** Sends the mails about events. No request waits for it: it only reads what requests have recorded. */
export class MailSender {
  readonly #ports: MailSenderPorts
  readonly #stopping = new AbortController()
  #turn: Promise<void> | undefined
  #isConfigured = false
  /** Undefined if the latest mail was sent. */
  #rest: { readonly untilMs: number; readonly restMs: number } | undefined
  #cancel = () => {}

  constructor(ports: MailSenderPorts) {
    this.#ports = ports
  }

  /**
   * Stores the settings, and looks for mails now and every 1.5 s until `stop` is called. Without a mailer, only the
   * first.
   */
  start(): void {
    const look = async () => {
      await this.look().catch(this.#ports.onFailed)
      const isDone = this.#isConfigured && this.#ports.mailer === undefined
      if (!isDone && !this.#stopping.signal.aborted)
        this.#cancel = this.#ports.clock.after(LOOK_EVERY_MS, () => void look())
    }
    void look()
  }

  /** Ends a running mail, which is sent again later, and waits until its turn has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancel()
    await this.idle()
  }

  /** Begins a turn unless one runs, or the server rests after a failure. */
  async look(): Promise<void> {
    const { mail, queue, clock, mailer, settings, onFailed } = this.#ports
    if (!this.#isConfigured) await mail.configure(settings)
    this.#isConfigured = true
    const isResting = this.#rest !== undefined && this.#rest.untilMs > clock.monotonicMs()
    if (mailer === undefined || this.#turn !== undefined || isResting) return
    await queue.queueLeftOut(clock.now(), clock.now() - KEPT_MS)
    // Most looks find no mail, and need no lease.
    if ((await queue.next(clock.now())) === undefined) return
    this.#turn = this.#sendSome(mailer)
      .catch(onFailed)
      .finally(() => (this.#turn = undefined))
  }

  /** Resolves when a running turn has ended. */
  async idle(): Promise<void> {
    await this.#turn
  }

  /** Sends mails one after the other until one fails. */
  async #sendSome(mailer: Mailer): Promise<void> {
    const { queue, leases, clock } = this.#ports
    const lease = await leases.take('mail', LEASE_MS)
    if (lease === undefined) return
    try {
      for (let sent = 0; sent < MAILS_MAX && !this.#stopping.signal.aborted; sent += 1) {
        const due = await queue.next(clock.now())
        if (due === undefined || !(await this.#send(due, mailer))) return
      }
    } finally {
      await lease.release()
    }
  }

  /** Attempts to send a mail. Returns whether the server can be asked to take another one. */
  async #send(due: DueMail, mailer: Mailer): Promise<boolean> {
    const { queue, clock, onRefused } = this.#ports
    const { publicId: id, to, queuedAtMs: atMs } = due
    const result = await mailer.send({ id, to, atMs, ...textOf(due) }, this.#stopping.signal)
    const isOut = result.outcome !== 'failed'
    // The process stops, so this was no failure of the server. The next process sends the mail again.
    if (this.#stopping.signal.aborted && !isOut) return false
    await queue.record(due, { atMs: clock.now(), result })
    if (result.outcome !== 'sent' && this.#rest === undefined) onRefused(result.problem)
    this.#rest = isOut ? undefined : this.#nextRest()
    return isOut
  }

  #nextRest(): { readonly untilMs: number; readonly restMs: number } {
    const restMs = this.#rest === undefined ? REST_MS : Math.min(2 * this.#rest.restMs, REST_MS_MAX)
    return { untilMs: this.#ports.clock.monotonicMs() + restMs, restMs }
  }
}

function textOf({ about, isOperator }: DueMail): MailText {
  const reader = isOperator ? 'operator' : 'contact'
  return 'event' in about ? eventMail(about.event, reader) : leftOutMail(about.leftOut, reader)
}
