import { isForOperators } from '../../../domain/mail/mail.ts'
import { eventTypes, type EventType, type NewEvent } from '../../../domain/webhooks/event.ts'
import type { MailSettings } from '../../../gateway/ports/events/mail.ts'
import { all, first, type Step } from '../steps.ts'
import { eventsFrom } from '../rows/webhook-rows.ts'

/**
 * The messages that wait for one webhook. More are dropped and counted: a receiver that is down for a day must not fill
 * the disk.
 */
export const QUEUE_MAX = 10_000

/** The owner of what belongs to no account. */
const OPERATOR = 0

/** An address that gets mails. */
export type MailRecipient = { readonly id: number; readonly isOperator: boolean }

/** The receivers of an event. */
export type EventReceivers = {
  /** The row ids of the webhooks that asked for it. */
  readonly webhookIds: readonly number[]
  readonly mailed: readonly MailRecipient[]
}

/** The receivers of the events of a store. One process can keep them in memory; many nodes must read them. */
export interface Receivers {
  /** The receivers of an event. If it has any, no other step changes them until the step ends. */
  of(event: Pick<NewEvent, 'type' | 'accountId'>): Step<EventReceivers>

  /** Whether the queue of a webhook has no room for another message. */
  isFull(webhookId: number): Step<boolean>

  /** Inside a step: a message began to wait (1), or no longer does (-1). */
  addWaiting(webhookId: number, change: 1 | -1): void

  /** Called by each step that changes webhooks, addresses of mails or their settings. */
  forget(): void
}

type WebhookReceiver = {
  readonly id: number
  readonly accountId: number
  readonly events: ReadonlySet<EventType>
}
type MailReceiver = MailRecipient & { readonly accountId: number }

/** Those who may get events, by their accounts. */
export type ReadReceivers = {
  readonly webhooks: ReadonlyMap<number, readonly WebhookReceiver[]>
  /** Empty if no mails are sent. */
  readonly mails: ReadonlyMap<number, readonly MailReceiver[]>
}

/** Reads all receivers, or only those of the operator and of one account. */
export function* readReceivers(of: 'all' | { readonly accountId: number | undefined }): Step<ReadReceivers> {
  const { isOn } = yield* readMailSettings()
  return {
    webhooks: Map.groupBy(yield* webhookReceivers(of), ({ accountId }) => accountId),
    mails: Map.groupBy(isOn ? yield* mailReceivers(of) : [], ({ accountId }) => accountId),
  }
}

/** The stored settings of mails: see `Mail.configure`. */
export function* readMailSettings(): Step<Omit<MailSettings, 'operators'>> {
  const row = yield* first<{ is_on: bigint; per_address: bigint; per_day: bigint }>(
    'SELECT is_on, per_address, per_day FROM mail_state',
  )
  return {
    isOn: row?.is_on === 1n,
    perAddress: Number(row?.per_address ?? 0n),
    perDay: Number(row?.per_day ?? 0n),
  }
}

/** The receivers of one event: those of the operator first, and those of its account. */
export function receiversOf(
  { webhooks, mails }: ReadReceivers,
  { type, accountId = OPERATOR }: Pick<NewEvent, 'type' | 'accountId'>,
): EventReceivers {
  const owners = accountId === OPERATOR ? [OPERATOR] : [OPERATOR, accountId]
  const asked = owners
    .flatMap(owner => webhooks.get(owner) ?? [])
    .filter(({ events }) => events.has(type))
    .map(({ id }) => id)
  const operators = isForOperators(type) ? (mails.get(OPERATOR) ?? []) : []
  const isShared = accountId !== OPERATOR && eventTypes[type].about === 'account'
  const contacts = isShared ? (mails.get(accountId) ?? []) : []
  return { webhookIds: asked, mailed: [...operators, ...contacts] }
}

/** The messages that wait for a webhook, up to the size of a queue. */
export function* countWaiting(webhookId: number): Step<number> {
  const row = yield* first<{ count: bigint }>(
    `SELECT count(*) AS count FROM
      (SELECT id FROM webhook_messages WHERE webhook_id = ? AND state = 'waiting' LIMIT ?) AS waiting`,
    webhookId,
    QUEUE_MAX,
  )
  return Number(row?.count ?? 0n)
}

type Of = Parameters<typeof readReceivers>[0]

function* webhookReceivers(of: Of): Step<readonly WebhookReceiver[]> {
  const rows = yield* all<{ id: bigint; account_id: bigint | null; events: string }>(
    `SELECT id, account_id, events FROM webhooks WHERE off_at_ms IS NULL AND removed_at_ms IS NULL
      ${ownedBy(of)} ORDER BY id`,
    ...ownerOf(of),
  )
  return rows.map(({ id, account_id: accountId, events }) => ({
    id: Number(id),
    accountId: Number(accountId ?? OPERATOR),
    events: new Set(eventsFrom(events)),
  }))
}

function* mailReceivers(of: Of): Step<readonly MailReceiver[]> {
  const rows = yield* all<{ id: bigint; account_id: bigint | null }>(
    `SELECT id, account_id FROM mail_recipients WHERE id > 0 ${ownedBy(of)} ORDER BY id`,
    ...ownerOf(of),
  )
  return rows.map(({ id, account_id: accountId }) => ({
    id: Number(id),
    isOperator: accountId === null,
    accountId: Number(accountId ?? OPERATOR),
  }))
}

function ownedBy(of: Of): string {
  return of === 'all' ? '' : 'AND (account_id IS NULL OR account_id = ?)'
}

function ownerOf(of: Of): readonly number[] {
  return of === 'all' ? [] : [of.accountId ?? OPERATOR]
}
