import { hasRoom, mailDay } from '../../../domain/mail/mail.ts'
import type { EventType } from '../../../domain/webhooks/event.ts'
import type { MailSettings } from '../../../gateway/ports/events/mail.ts'
import { all, first, run, takeLock, type Step } from '../steps.ts'
import { newEventId } from '../rows/webhook-rows.ts'
import { readMailSettings, type MailRecipient, type Receivers } from './receivers.ts'

/** The steps that change who gets mails, and how many. */
export class MailRecipients {
  readonly #receivers: Receivers

  constructor(receivers: Receivers) {
    this.#receivers = receivers
  }

  /** Replaces the contacts of an account, or the operators (null). Returns false if they stay. */
  *replace(accountId: number | null, addresses: readonly string[]): Step<boolean> {
    yield* takeLock('events')
    const earlier = yield* recipientsOf(accountId)
    const isKept = (address: string) => earlier.some(row => isSame(row.address, address))
    const removed = earlier.filter(row => !addresses.some(address => isSame(row.address, address)))
    const added = addresses.filter(address => !isKept(address))
    if (removed.length + added.length === 0) return false
    for (const { id } of removed) yield* run('DELETE FROM mail_recipients WHERE id = ?', id)
    for (const address of added)
      yield* run('INSERT INTO mail_recipients (account_id, address) VALUES (?, ?)', accountId, address)
    this.#receivers.forget()
    return true
  }

  /** Stores the settings of a server. */
  *configure({ isOn, operators, perAddress, perDay }: MailSettings): Step<void> {
    yield* this.replace(null, operators)
    yield* run(
      'UPDATE mail_state SET is_on = ?, per_address = ?, per_day = ?',
      isOn ? 1 : 0,
      perAddress,
      perDay,
    )
    if (!isOn) yield* endWaiting()
    this.#receivers.forget()
  }
}

/** Whether the settings of a server differ from the stored ones. */
export function* differFromStored({ isOn, operators, perAddress, perDay }: MailSettings): Step<boolean> {
  const known = yield* readMailSettings()
  const stored = (yield* recipientsOf(null)).map(({ address }) => address.toLowerCase())
  const wanted = operators.map(address => address.toLowerCase())
  return (
    JSON.stringify([known, stored.toSorted()]) !==
    JSON.stringify([{ isOn, perAddress, perDay }, wanted.toSorted()])
  )
}

/** Queues a mail about an event for each recipient that has room today, and counts the others. */
export function* queueMails(
  recipients: readonly MailRecipient[],
  event: { readonly id: bigint; readonly type: EventType; readonly atMs: number },
): Step<void> {
  const { atMs, type } = event
  for (const { id, isOperator } of recipients)
    if (yield* takeRoom({ id, isOperator, type }, atMs))
      yield* run(
        `INSERT INTO mail_messages (public_id, recipient_id, event_id, queued_at_ms, state, next_attempt_at_ms)
          VALUES (?, ?, ?, ?, 'waiting', ?)`,
        newEventId('msg', atMs),
        id,
        event.id,
        atMs,
        atMs,
      )
    else yield* leaveOut(id, atMs)
}

/**
 * Queues a mail for each of at most `limit` recipients that an earlier day left something out for. Returns their
 * number.
 */
export function* queueLeftOut(beforeMs: number, limit: number, atMs: number): Step<number> {
  const { isOn } = yield* readMailSettings()
  // Told on a later day.
  if (!isOn) return 0
  const rows = yield* all<LeftOutRow>(
    `SELECT id, account_id, left_out, left_out_since_ms FROM mail_recipients
      WHERE left_out > 0 AND left_out_since_ms < ? ORDER BY left_out_since_ms, id LIMIT ?`,
    beforeMs,
    limit,
  )
  let queued = 0
  for (const row of rows) if (yield* tellLeftOut(row, atMs)) queued += 1
  return queued
}

type LeftOutRow = { id: bigint; account_id: bigint | null; left_out: bigint; left_out_since_ms: bigint }

/** Returns false for a recipient without room, who is told on a later day. */
function* tellLeftOut(row: LeftOutRow, atMs: number): Step<boolean> {
  const { id, account_id: accountId, left_out: count, left_out_since_ms: sinceMs } = row
  const recipient = { id: Number(id), isOperator: accountId === null, type: undefined }
  if (!(yield* takeRoom(recipient, atMs))) return false
  yield* run(
    `INSERT INTO mail_messages
        (public_id, recipient_id, left_out, left_out_since_ms, queued_at_ms, state, next_attempt_at_ms)
      VALUES (?, ?, ?, ?, ?, 'waiting', ?)`,
    newEventId('msg', atMs),
    id,
    count,
    sinceMs,
    atMs,
    atMs,
  )
  yield* run('UPDATE mail_recipients SET left_out = 0, left_out_since_ms = NULL WHERE id = ?', id)
  return true
}

type RoomRow = { to_address: bigint; in_all: bigint; per_address: bigint; per_day: bigint }

/** Counts a mail for its recipient and for the day. Returns false, and counts nothing, if there is no room. */
function* takeRoom(
  { id, isOperator, type }: MailRecipient & { readonly type: EventType | undefined },
  atMs: number,
): Step<boolean> {
  const day = mailDay(atMs)
  const row = yield* first<RoomRow>(
    `SELECT CASE WHEN mail_recipients.day = ? THEN mail_recipients.queued ELSE 0 END AS to_address,
        CASE WHEN mail_state.day = ? THEN mail_state.queued ELSE 0 END AS in_all, per_address, per_day
      FROM mail_recipients CROSS JOIN mail_state WHERE mail_recipients.id = ?`,
    day,
    day,
    id,
  )
  if (row === undefined) return false
  const queued = { toAddress: Number(row.to_address), inAll: Number(row.in_all) }
  const bounds = { perAddress: Number(row.per_address), perDay: Number(row.per_day) }
  if (!hasRoom({ type, isOperator }, queued, bounds)) return false
  yield* run('UPDATE mail_recipients SET day = ?, queued = ? WHERE id = ?', day, queued.toAddress + 1, id)
  yield* run('UPDATE mail_state SET day = ?, queued = ?', day, queued.inAll + 1)
  return true
}

function* leaveOut(id: number, atMs: number): Step<void> {
  yield* run(
    `UPDATE mail_recipients SET left_out = left_out + 1, left_out_since_ms = coalesce(left_out_since_ms, ?)
      WHERE id = ?`,
    atMs,
    id,
  )
  yield* run('UPDATE mail_state SET left_out = left_out + 1')
}

function endWaiting(): Step<void> {
  return run(
    `UPDATE mail_messages SET state = 'failed', next_attempt_at_ms = NULL, problem = 'mails were switched off'
      WHERE state = 'waiting'`,
  )
}

function recipientsOf(
  accountId: number | null,
): Step<readonly { readonly id: bigint; readonly address: string }[]> {
  return accountId === null
    ? all('SELECT id, address FROM mail_recipients WHERE account_id IS NULL ORDER BY id')
    : all('SELECT id, address FROM mail_recipients WHERE account_id = ? ORDER BY id', accountId)
}

/** As the unique index compares them. */
function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}
