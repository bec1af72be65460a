import type { Database, Statement } from 'bun:sqlite'
import { hasRoom, isForOperators, mailDay, type MailBounds } from '../../../domain/mail/mail.ts'
import { eventTypes, type EventType, type NewEvent } from '../../../domain/webhooks/event.ts'
import type { MailSettings } from '../../../gateway/ports/mail.ts'
import type { Transactions } from '../transactions.ts'
import { newEventId } from '../webhooks/webhook-events.ts'

const OPERATOR = 0

type MailRecipient = { readonly id: number; readonly isOperator: boolean }

type Known = MailBounds & {
  readonly isOn: boolean
  /** By their accounts; 0 is the operator. */
  readonly byAccount: ReadonlyMap<number, readonly MailRecipient[]>
}

/**
 * The addresses that get mails, and the bounds of a day. An event queues its mails inside the step of what happened.
 * The addresses are kept in memory, so an event without any costs a look at a map.
 */
export class MailRecipients {
  readonly #sql: ReturnType<typeof statements>
  /** Undefined if it must be read. */
  #known: Known | undefined

  constructor(parts: { readonly database: Database; readonly transactions: Transactions }) {
    this.#sql = statements(parts.database)
    parts.transactions.join({ afterRollback: () => (this.#known = undefined) })
  }

  /** Who is told of an event: operators, and the contacts of its account. None if no mails are sent. */
  of({ type, accountId }: Pick<NewEvent, 'type' | 'accountId'>): readonly MailRecipient[] {
    const { isOn, byAccount } = this.#read()
    if (!isOn) return []
    const operators = isForOperators(type) ? (byAccount.get(OPERATOR) ?? []) : []
    const isShared = accountId !== undefined && eventTypes[type].about === 'account'
    return isShared ? [...operators, ...(byAccount.get(accountId) ?? [])] : operators
  }

  /** Inside a step: queues a mail about an event for each recipient that has room today, and counts the others. */
  queue(
    recipients: readonly MailRecipient[],
    event: { readonly id: bigint; readonly type: EventType; readonly atMs: number },
  ): void {
    const { atMs, type } = event
    for (const { id, isOperator } of recipients)
      if (this.#takeRoom({ id, isOperator, type }, atMs))
        this.#sql.queueEvent.run({ id: newEventId('msg', atMs), recipient: id, event: event.id, atMs })
      else this.#leaveOut(id, atMs)
  }

  /**
   * Inside a step: queues a mail for each recipient that an earlier day left something out for. Returns their number.
   */
  queueLeftOut(beforeMs: number, limit: number, atMs: number): number {
    let queued = 0
    for (const {
      id,
      account_id: accountId,
      left_out: count,
      left_out_since_ms: sinceMs,
    } of this.#sql.leftOut.all(beforeMs, limit)) {
      const recipient = { id: Number(id), isOperator: accountId === null, type: undefined }
      // Told on a later day.
      if (!this.#read().isOn || !this.#takeRoom(recipient, atMs)) continue
      this.#sql.queueLeftOut.run({ id: newEventId('msg', atMs), recipient: id, count, sinceMs, atMs })
      this.#sql.forgetLeftOut.run(id)
      queued += 1
    }
    return queued
  }

  /** Inside a step: replaces the contacts of an account, or the operators (null). Returns false if they stay. */
  replace(accountId: number | null, addresses: readonly string[]): boolean {
    const earlier = this.#sql.ofAccount.all(accountId)
    const isKept = (address: string) => earlier.some(row => isSame(row.address, address))
    const removed = earlier.filter(row => !addresses.some(address => isSame(row.address, address)))
    const added = addresses.filter(address => !isKept(address))
    if (removed.length + added.length === 0) return false
    for (const { id } of removed) this.#sql.remove.run(id)
    for (const address of added) this.#sql.insert.run(accountId, address)
    this.#known = undefined
    return true
  }

  /** Whether the settings of a server differ from the stored ones. */
  differsFrom({ isOn, operators, perAddress, perDay }: MailSettings): boolean {
    const { byAccount: _, ...known } = this.#read()
    const stored = this.#sql.ofAccount.all(null).map(({ address }) => address.toLowerCase())
    const wanted = operators.map(address => address.toLowerCase())
    return (
      JSON.stringify([known, stored.toSorted()]) !==
      JSON.stringify([{ isOn, perAddress, perDay }, wanted.toSorted()])
    )
  }

  /** Inside a step: stores the settings of a server. */
  configure({ isOn, operators, perAddress, perDay }: MailSettings): void {
    this.replace(null, operators)
    this.#sql.setState.run(isOn ? 1 : 0, perAddress, perDay)
    if (!isOn) this.#sql.endWaiting.run()
    this.#known = undefined
  }

  /** Counts a mail for its recipient and for the day. Returns false, and counts nothing, if there is no room. */
  #takeRoom(
    { id, isOperator, type }: MailRecipient & { readonly type: EventType | undefined },
    atMs: number,
  ): boolean {
    const day = mailDay(atMs)
    const { to_address: toAddress = 0n, in_all: inAll = 0n } = this.#sql.queued.get({ id, day }) ?? {}
    const queued = { toAddress: Number(toAddress), inAll: Number(inAll) }
    if (!hasRoom({ type, isOperator }, queued, this.#read())) return false
    this.#sql.countFor.run(day, queued.toAddress + 1, id)
    this.#sql.countDay.run(day, queued.inAll + 1)
    return true
  }

  #leaveOut(id: number, atMs: number): void {
    this.#sql.leaveOut.run(atMs, id)
    this.#sql.countLeftOut.run()
  }

  #read(): Known {
    return (this.#known ??= this.#load())
  }

  #load(): Known {
    const state = this.#sql.state.get()
    const rows = this.#sql.all.all().map(({ id, account_id: accountId }) => ({
      id: Number(id),
      isOperator: accountId === null,
      accountId: Number(accountId ?? OPERATOR),
    }))
    return {
      isOn: state?.is_on === 1n,
      perAddress: Number(state?.per_address ?? 0n),
      perDay: Number(state?.per_day ?? 0n),
      byAccount: Map.groupBy(rows, ({ accountId }) => accountId),
    }
  }
}

/** As the column compares them. */
function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}

type MailStateRow = { is_on: bigint; per_address: bigint; per_day: bigint }
type LeftOutRow = { id: bigint; account_id: bigint | null; left_out: bigint; left_out_since_ms: bigint }

function statements(database: Database) {
  return {
    state: database.prepare<MailStateRow, []>('SELECT is_on, per_address, per_day FROM mail_state'),
    setState: database.prepare('UPDATE mail_state SET is_on = ?, per_address = ?, per_day = ?'),
    all: database.prepare<{ id: bigint; account_id: bigint | null }, []>(
      'SELECT id, account_id FROM mail_recipients ORDER BY id',
    ),
    ofAccount: database.prepare<{ id: bigint; address: string }, [number | null]>(
      'SELECT id, address FROM mail_recipients WHERE account_id IS ? ORDER BY id',
    ),
    insert: database.prepare('INSERT INTO mail_recipients (account_id, address) VALUES (?, ?)'),
    remove: database.prepare('DELETE FROM mail_recipients WHERE id = ?'),
    queued: database.prepare<{ to_address: bigint; in_all: bigint }, { id: number; day: number }>(
      `SELECT iif(mail_recipients.day = $day, mail_recipients.queued, 0) AS to_address,
          iif(mail_state.day = $day, mail_state.queued, 0) AS in_all
        FROM mail_recipients JOIN mail_state WHERE mail_recipients.id = $id`,
    ),
    countFor: database.prepare('UPDATE mail_recipients SET day = ?, queued = ? WHERE id = ?'),
    countDay: database.prepare('UPDATE mail_state SET day = ?, queued = ?'),
    leaveOut: database.prepare(
      `UPDATE mail_recipients SET left_out = left_out + 1, left_out_since_ms = ifnull(left_out_since_ms, ?)
        WHERE id = ?`,
    ),
    countLeftOut: database.prepare('UPDATE mail_state SET left_out = left_out + 1'),
    leftOut: database.prepare<LeftOutRow, [number, number]>(
      `SELECT id, account_id, left_out, left_out_since_ms FROM mail_recipients
        WHERE left_out > 0 AND left_out_since_ms < ? ORDER BY left_out_since_ms LIMIT ?`,
    ),
    forgetLeftOut: database.prepare(
      'UPDATE mail_recipients SET left_out = 0, left_out_since_ms = NULL WHERE id = ?',
    ),
    queueEvent: database.prepare(
      `INSERT INTO mail_messages (public_id, recipient_id, event_id, queued_at_ms, state, next_attempt_at_ms)
        VALUES ($id, $recipient, $event, $atMs, 'waiting', $atMs)`,
    ),
    queueLeftOut: database.prepare(
      `INSERT INTO mail_messages
          (public_id, recipient_id, left_out, left_out_since_ms, queued_at_ms, state, next_attempt_at_ms)
        VALUES ($id, $recipient, $count, $sinceMs, $atMs, 'waiting', $atMs)`,
    ),
    endWaiting: database.prepare(
      `UPDATE mail_messages SET state = 'failed', next_attempt_at_ms = NULL, problem = 'mails were switched off'
        WHERE state = 'waiting'`,
    ),
  } satisfies Record<string, Statement>
}
