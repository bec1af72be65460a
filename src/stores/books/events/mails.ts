import { afterMailAttempt, mailDayBegin } from '../../../domain/mail/mail.ts'
import type { DueMail, Mail, MailQueue, MailSettings } from '../../../gateway/ports/events/mail.ts'
import { cursorOf, pageOf, readCursor, ROW_ID_MAX } from '../cursors.ts'
import { mailMessageFrom, type MailMessageRow } from '../rows/mail-rows.ts'
import { all, first, run, type StepRunner, type Step } from '../steps.ts'
import { readMailSettings } from './receivers.ts'
import { differFromStored, queueLeftOut, type MailRecipients } from './mail-recipients.ts'

/** The mails of more addresses in one step would delay the steps of others. */
const LEFT_OUT_AT_ONCE = 200

const JOINED = `FROM mail_messages JOIN mail_recipients ON mail_recipients.id = recipient_id
  LEFT JOIN webhook_events ON webhook_events.id = event_id`

/** The mails of one node: the queue of those to send, and the log of all. */
export class StoredMail implements Mail, MailQueue {
  readonly #stepRunner: StepRunner
  readonly #mailRecipients: MailRecipients

  constructor(parts: { readonly stepRunner: StepRunner; readonly mailRecipients: MailRecipients }) {
    this.#stepRunner = parts.stepRunner
    this.#mailRecipients = parts.mailRecipients
  }

  async configure(settings: MailSettings): Promise<void> {
    // Nearly every start has the settings of the one before, and needs no commit.
    if (await this.#stepRunner.read(() => differFromStored(settings)))
      await this.#stepRunner.write('events', () => this.#mailRecipients.configure(settings))
  }

  isOn(): Promise<boolean> {
    return this.#stepRunner.read(function* () {
      return (yield* readMailSettings()).isOn
    })
  }

  messages(page: Parameters<Mail['messages']>[0]): ReturnType<Mail['messages']> {
    return this.#stepRunner.read(() => messagesPage(page))
  }

  counts(): Promise<{ readonly waiting: number; readonly leftOut: number }> {
    return this.#stepRunner.read(function* () {
      const row = yield* first<{ waiting: bigint; left_out: bigint }>(
        "SELECT (SELECT count(*) FROM mail_messages WHERE state = 'waiting') AS waiting, left_out FROM mail_state",
      )
      return { waiting: Number(row?.waiting ?? 0n), leftOut: Number(row?.left_out ?? 0n) }
    })
  }

  async next(nowMs: number): Promise<DueMail | undefined> {
    const row = await this.#stepRunner.read(() => nextRow(nowMs))
    if (row === undefined) return undefined
    const { body, left_out: count, left_out_since_ms: sinceMs } = row
    return {
      id: Number(row.id),
      publicId: row.public_id,
      to: row.address,
      isOperator: row.account_id === null,
      queuedAtMs: Number(row.queued_at_ms),
      about:
        body === null ? { leftOut: { count: Number(count), sinceMs: Number(sinceMs) } } : { event: body },
    }
  }

  record({ id }: Pick<DueMail, 'id'>, { atMs, result }: Parameters<MailQueue['record']>[1]): Promise<void> {
    return this.#stepRunner.write('events', function* () {
      const row = yield* first<{ attempts: bigint }>(
        "SELECT attempts FROM mail_messages WHERE id = ? AND state = 'waiting'",
        id,
      )
      if (row === undefined) return
      const { outcome } = result
      const { state, nextAttemptAtMs } = afterMailAttempt(Number(row.attempts), { outcome, atMs })
      yield* run(
        `UPDATE mail_messages SET state = ?, attempts = attempts + 1, next_attempt_at_ms = ?, attempted_at_ms = ?,
          problem = ? WHERE id = ?`,
        state,
        nextAttemptAtMs,
        atMs,
        result.outcome === 'sent' ? null : result.problem,
        id,
      )
    })
  }

  async queueLeftOut(nowMs: number, beforeMs: number): Promise<number> {
    const dayBeginMs = mailDayBegin(nowMs)
    // Most calls change nothing and need no commit.
    if (!(await this.#stepRunner.read(() => hasLeftOutWork(dayBeginMs, beforeMs)))) return 0
    return this.#stepRunner.write('events', function* () {
      yield* run('DELETE FROM mail_messages WHERE event_id IS NULL AND queued_at_ms < ?', beforeMs)
      return yield* queueLeftOut(dayBeginMs, LEFT_OUT_AT_ONCE, nowMs)
    })
  }
}

function* messagesPage({ limit, cursor, state }: Parameters<Mail['messages']>[0]) {
  const before = cursor === undefined ? ROW_ID_MAX : readCursor(cursor).value
  const inState = state === undefined ? '' : 'AND state = ?'
  const rows = yield* all<MailMessageRow>(
    `SELECT mail_messages.*, address, account_id, webhook_events.public_id AS event_public_id, type
      ${JOINED} WHERE mail_messages.id < ? ${inState} ORDER BY mail_messages.id DESC LIMIT ?`,
    before,
    ...(state === undefined ? [] : [state]),
    limit + 1,
  )
  const { shown, ...next } = pageOf(rows, limit, ({ id }) => cursorOf(id))
  return { messages: shown.map(mailMessageFrom), ...next }
}

type DueMailRow = {
  id: bigint
  public_id: string
  address: string
  account_id: bigint | null
  queued_at_ms: bigint
  body: string | null
  left_out: bigint | null
  left_out_since_ms: bigint | null
}

function nextRow(nowMs: number): Step<DueMailRow | undefined> {
  return first(
    `SELECT mail_messages.id, mail_messages.public_id, address, account_id, queued_at_ms, body,
        mail_messages.left_out, mail_messages.left_out_since_ms
      ${JOINED} WHERE state = 'waiting' AND next_attempt_at_ms <= ?
      ORDER BY next_attempt_at_ms, mail_messages.id LIMIT 1`,
    nowMs,
  )
}

/** Whether an address is to be told what was left out, or an old mail that told it is to be removed. */
function* hasLeftOutWork(dayBeginMs: number, beforeMs: number): Step<boolean> {
  const row = yield* first<{ tells: bigint; is_old: bigint }>(
    `SELECT
      EXISTS (SELECT 1 FROM mail_recipients CROSS JOIN mail_state
        WHERE is_on = 1 AND mail_recipients.left_out > 0 AND left_out_since_ms < ?) AS tells,
      EXISTS (SELECT 1 FROM mail_messages WHERE event_id IS NULL AND queued_at_ms < ?) AS is_old`,
    dayBeginMs,
    beforeMs,
  )
  return row?.tells === 1n || row?.is_old === 1n
}
