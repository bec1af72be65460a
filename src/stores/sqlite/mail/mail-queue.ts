import type { Database, Statement } from 'bun:sqlite'
import { afterMailAttempt, mailDayBegin, type MailState } from '../../../domain/mail/mail.ts'
import type { DueMail, Mail, MailQueue, MailSettings } from '../../../gateway/ports/mail.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from '../../books/cursors.ts'
import { mailMessageFrom, type MailMessageRow } from '../../books/mail-rows.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { MailRecipients } from './mail-recipients.ts'

type Parts = {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly mailRecipients: MailRecipients
}

/** The mails of more addresses in one step would delay the steps of others. */
const LEFT_OUT_AT_ONCE = 200

/** The mails of one node: the queue of those to send, and the log of all. */
export class SqliteMail implements Mail, MailQueue {
  readonly #parts: Parts
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = statements(parts.database)
  }

  async configure(settings: MailSettings): Promise<void> {
    const { groupCommit, mailRecipients } = this.#parts
    // Nearly every start has the settings of the one before, and needs no commit.
    if (mailRecipients.differsFrom(settings)) await groupCommit.run(() => mailRecipients.configure(settings))
  }

  async messages({ limit, cursor, state }: Parameters<Mail['messages']>[0]): ReturnType<Mail['messages']> {
    const before = cursor === undefined ? ROW_ID_MAX : readCursor(cursor).value
    const rows = this.#sql.messages.all({ before, state: state ?? null, limit: limit + 1 })
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const hasMore = rows.length > limit && last !== undefined
    return { messages: shown.map(mailMessageFrom), ...(hasMore ? { next: cursorOf(last.id) } : {}) }
  }

  async counts(): Promise<{ readonly waiting: number; readonly leftOut: number }> {
    const { waiting = 0n, left_out: leftOut = 0n } = this.#sql.counts.get() ?? {}
    return { waiting: Number(waiting), leftOut: Number(leftOut) }
  }

  async next(nowMs: number): Promise<DueMail | undefined> {
    const row = this.#sql.next.get(nowMs)
    if (row === null) return undefined
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
    return this.#parts.groupCommit.run(() => {
      const row = this.#sql.attempts.get(id)
      if (row === null) return
      const { outcome } = result
      const { state, nextAttemptAtMs } = afterMailAttempt(Number(row.attempts), { outcome, atMs })
      const problem = result.outcome === 'sent' ? null : result.problem
      this.#sql.record.run(state, nextAttemptAtMs, atMs, problem, id)
    })
  }

  async queueLeftOut(nowMs: number, beforeMs: number): Promise<number> {
    const { groupCommit, mailRecipients } = this.#parts
    const dayBeginMs = mailDayBegin(nowMs)
    // Most calls change nothing and need no commit.
    const { tells, is_old: isOld } = this.#sql.leftOutWork.get({ dayBeginMs, beforeMs }) ?? {}
    if (tells !== 1n && isOld !== 1n) return 0
    return groupCommit.run(() => {
      this.#sql.removeOld.run(beforeMs)
      return mailRecipients.queueLeftOut(dayBeginMs, LEFT_OUT_AT_ONCE, nowMs)
    })
  }
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

function statements(database: Database) {
  const joined = `FROM mail_messages JOIN mail_recipients ON mail_recipients.id = recipient_id
    LEFT JOIN webhook_events ON webhook_events.id = event_id`
  return {
    next: database.prepare<DueMailRow, [number]>(
      `SELECT mail_messages.id, mail_messages.public_id, address, account_id, queued_at_ms, body,
          mail_messages.left_out, mail_messages.left_out_since_ms
        ${joined} WHERE state = 'waiting' AND next_attempt_at_ms <= ?
        ORDER BY next_attempt_at_ms, mail_messages.id LIMIT 1`,
    ),
    attempts: database.prepare<{ attempts: bigint }, [number]>(
      "SELECT attempts FROM mail_messages WHERE id = ? AND state = 'waiting'",
    ),
    record: database.prepare(
      `UPDATE mail_messages SET state = ?, attempts = attempts + 1, next_attempt_at_ms = ?, attempted_at_ms = ?,
        problem = ? WHERE id = ?`,
    ),
    messages: database.prepare<MailMessageRow, { before: bigint; state: MailState | null; limit: number }>(
      `SELECT mail_messages.*, address, account_id, webhook_events.public_id AS event_public_id, type
        ${joined} WHERE mail_messages.id < $before AND ($state IS NULL OR state = $state)
        ORDER BY mail_messages.id DESC LIMIT $limit`,
    ),
    counts: database.prepare<{ waiting: bigint; left_out: bigint }, []>(
      `SELECT (SELECT count(*) FROM mail_messages WHERE state = 'waiting') AS waiting, left_out FROM mail_state`,
    ),
    leftOutWork: database.prepare<
      { tells: bigint; is_old: bigint },
      { dayBeginMs: number; beforeMs: number }
    >(
      `SELECT
        EXISTS (SELECT 1 FROM mail_recipients JOIN mail_state
          WHERE is_on = 1 AND mail_recipients.left_out > 0 AND left_out_since_ms < $dayBeginMs) AS tells,
        EXISTS (SELECT 1 FROM mail_messages WHERE event_id IS NULL AND queued_at_ms < $beforeMs) AS is_old`,
    ),
    removeOld: database.prepare('DELETE FROM mail_messages WHERE event_id IS NULL AND queued_at_ms < ?'),
  } satisfies Record<string, Statement>
}
