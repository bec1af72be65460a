import { eventTypes, type EventType } from '../../../domain/webhooks/event.ts'
import {
  messageStates,
  OLD_SECRET_MS_MAX,
  type Webhook,
  type WebhookMessage,
} from '../../../domain/webhooks/webhook.ts'
import { instant } from '../../../domain/time.ts'
import {
  checkedEvents,
  checkedUrl,
  createWebhook,
  OLD_SECRET_MS,
  rotateWebhook,
} from '../../../gateway/webhooks/create-webhook.ts'
import { refuseUnknown } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { accountOf } from '../accounts/accounts.ts'
import { flagField, optionalTextField, readFields, textField, wrongField, type Fields } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { OperatingPorts } from '../ports.ts'
import { absenceOf, found } from '../found.ts'
import { NOTE_LENGTH_MAX } from '../money-fields.ts'
import { readAdminPage } from '../query.ts'

const URL_FIELD = 'the address that gets the messages'

/** All webhooks, or those of an account, oldest first. */
export async function listWebhooks({ query }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  refuseUnknown(query, ['account'])
  const name = query.get('account')
  const account = name === null ? undefined : await accountOf({ account: name }, ports)
  const webhooks = await ports.webhooks.list(account?.id)
  return adminReply({ data: await Promise.all(webhooks.map(webhook => webhookBody(webhook, ports))) })
}

/** Creates a webhook of the operator, or of an account. Only this reply and that of a rotation have a secret. */
export async function postWebhook(
  { request, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, ['url', 'events', 'account', 'note'])
  const name = optionalTextField(fields, 'account', 'the id or the name of an account')
  const account = name === undefined ? undefined : await accountOf({ account: name }, ports)
  const created = await createWebhook(
    {
      account,
      url: textField(fields, 'url', URL_FIELD),
      events: eventsField(fields),
      note: noteField(fields) ?? '',
      actor,
    },
    { ...ports, allowsPrivate: ports.webhooksMayBePrivate },
  )
  return secretReply(created, ports)
}

export async function getWebhook({ params }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  return adminReply(await webhookBody(await webhookOf(params, ports), ports))
}

/** Changes a webhook from the next event on, or switches it off or on. Repeating it changes nothing. */
export async function patchWebhook(
  { request, params, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, ['url', 'events', 'note', 'on'])
  const url = optionalTextField(fields, 'url', URL_FIELD)
  const events = eventsField(fields)
  const note = noteField(fields)
  const isOn = 'on' in fields ? flagField(fields, 'on') : undefined
  const webhook = await webhookOf(params, ports)
  const allowsPrivate = ports.webhooksMayBePrivate
  const patch = {
    ...(url !== undefined && { url: checkedUrl(url, webhook, { allowsPrivate }) }),
    ...(events !== undefined && { events: checkedEvents(events, webhook) }),
    ...(note !== undefined && { note }),
    ...(isOn !== undefined && { isOn }),
  }
  if (Object.keys(patch).length === 0)
    throw wrongField('url', 'is missing; the body changes nothing without "url", "events", "note" or "on"')
  const changed = await ports.webhooks.update(webhook.publicId, patch, { actor, atMs: ports.clock.now() })
  return adminReply(await webhookBody(changed, ports))
}

/** Removes a webhook. Its waiting messages are not sent. */
export async function deleteWebhook(
  { params, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const { publicId } = await webhookOf(params, ports)
  await ports.webhooks.remove(publicId, { actor, atMs: ports.clock.now() })
  return adminReply({ id: publicId, removed: true })
}

const MS_A_SECOND = 1000

/** Gives a webhook another secret. Until the end of the old one, both sign. */
export async function postWebhookRotation(
  { request, params, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const { old_ends_in: seconds = OLD_SECRET_MS / MS_A_SECOND } = await readFields(request, ['old_ends_in'])
  const max = OLD_SECRET_MS_MAX / MS_A_SECOND
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 0 || seconds > max)
    throw wrongField('old_ends_in', `must be a whole number of seconds from 0 to ${max}`)
  const webhook = await webhookOf(params, ports)
  return secretReply(await rotateWebhook({ webhook, overlapMs: seconds * MS_A_SECOND, actor }, ports), ports)
}

/** Queues a test message. The delivery log has its outcome. */
export async function postWebhookTest({ params }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const { publicId } = await webhookOf(params, ports)
  return adminReply(messageBody(await ports.webhooks.sendTest(publicId, ports.clock.now())))
}

/** One page of the messages of a webhook, newest first. */
export async function listDeliveries(
  { params, query }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const page = readAdminPage(query, ['state'])
  const word = query.get('state')
  const state = messageStates.find(known => known === word)
  if (word !== null && state === undefined)
    throw wrongField('state', `must be one of ${messageStates.join(', ')}`)
  const webhook = await webhookOf(params, ports)
  const { limit, cursor } = page
  const { messages, next } = await ports.webhooks.messages(webhook, {
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(state === undefined ? {} : { state }),
  })
  return adminReply({ data: messages.map(messageBody), has_more: next !== undefined, next: next ?? null })
}

/** Sends a message again, with the same id. */
export async function postRedelivery({ params }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const webhook = await webhookOf(params, ports)
  const id = params['delivery'] ?? ''
  const message = await ports.webhooks.redeliver(webhook, id, ports.clock.now())
  return adminReply(messageBody(found(message, () => absenceOf('delivery', id))))
}

async function webhookOf(params: AdminCall['params'], { webhooks }: OperatingPorts): Promise<Webhook> {
  const id = params['webhook'] ?? ''
  return found(await webhooks.find(id), () => absenceOf('webhook', id))
}

function eventsField({ events }: Fields): readonly EventType[] | undefined {
  if (events === undefined || events === null) return undefined
  const expected = `must be a list of ${Object.keys(eventTypes).join(', ')}`
  if (!Array.isArray(events)) throw wrongField('events', expected)
  return events.map((type: unknown) => {
    if (typeof type === 'string' && Object.hasOwn(eventTypes, type)) return type as EventType
    throw wrongField('events', expected)
  })
}

function noteField(fields: Fields): string | undefined {
  const note = optionalTextField(fields, 'note', 'text')
  if (note !== undefined && note.length > NOTE_LENGTH_MAX)
    throw wrongField('note', `must be at most ${NOTE_LENGTH_MAX} characters`)
  return note
}

async function secretReply(
  { webhook, secret }: { readonly webhook: Webhook; readonly secret: string },
  ports: OperatingPorts,
): Promise<BufferedReply> {
  return adminReply({ ...(await webhookBody(webhook, ports)), secret })
}

async function webhookBody(webhook: Webhook, { accounts, clock }: OperatingPorts): Promise<object> {
  const { accountId, off, oldSecretEndsAtMs: oldEnds } = webhook
  const account = accountId === undefined ? undefined : await accounts.findAccountById(accountId)
  return {
    id: webhook.publicId,
    account: account?.publicId ?? null,
    url: webhook.url,
    events: webhook.events,
    note: webhook.note,
    created_at: instant(webhook.createdAtMs),
    state: off === undefined ? 'on' : off.reason === 'failing' ? 'switched_off' : 'off',
    off_at: instantOrNone(off?.atMs ?? null),
    failing_since: instantOrNone(webhook.failingSinceMs),
    old_secret_ends_at: oldEnds !== null && oldEnds > clock.now() ? instant(oldEnds) : null,
    dropped: webhook.dropped,
  }
}

function messageBody({ publicId, event, state, attempts, nextAttemptAtMs, latest }: WebhookMessage): object {
  return {
    id: publicId,
    event: event.publicId,
    type: event.type,
    occurred_at: instant(event.atMs),
    state,
    attempts,
    next_attempt_at: instantOrNone(nextAttemptAtMs),
    attempted_at: instantOrNone(latest?.atMs ?? null),
    status: latest?.status ?? null,
    duration_ms: latest?.durationMs ?? null,
    problem: latest?.problem ?? null,
  }
}

function instantOrNone(atMs: number | null): string | null {
  return atMs === null ? null : instant(atMs)
}
