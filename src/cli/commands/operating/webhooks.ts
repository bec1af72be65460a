import { adminPath, withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'

type WebhookReply = {
  readonly id: string
  readonly account: string | null
  readonly url: string
  readonly events: readonly string[]
  readonly note: string
  readonly created_at: string
  readonly state: 'on' | 'off' | 'switched_off'
  readonly off_at: string | null
  readonly failing_since: string | null
  readonly old_secret_ends_at: string | null
  readonly dropped: number
}
type SecretReply = WebhookReply & { readonly secret: string }

type DeliveryReply = {
  readonly id: string
  readonly type: string
  readonly occurred_at: string
  readonly state: 'waiting' | 'delivered' | 'failed'
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly duration_ms: number | null
  readonly problem: string | null
}

export type WebhookTerms = {
  readonly account?: string
  readonly event?: readonly string[]
  readonly note?: string
}

/** Creates a webhook. The output is only its secret, so that a script can capture it. */
export async function createWebhook(
  ask: Ask,
  { url, account, event, note }: WebhookTerms & { readonly url: string },
): Promise<Outcome> {
  const webhook = await ask<SecretReply>({
    method: 'POST',
    path: 'webhooks',
    json: { url, account, events: event, note },
  })
  return {
    value: webhook,
    text: webhook.secret,
    note: `The id of this webhook is ${webhook.id}. Its secret is not shown again. Try it with "tollgate webhooks test ${webhook.id}".`,
  }
}

/** Lists all webhooks, or those of an account. */
export async function listWebhooks(
  ask: Ask,
  { account }: { readonly account?: string | undefined },
): Promise<Outcome> {
  const path = account === undefined ? 'webhooks' : withQuery('webhooks', { account })
  const { data } = await ask<{ readonly data: readonly WebhookReply[] }>({ method: 'GET', path })
  const rows = data.map(webhook => [
    webhook.id,
    webhook.account ?? 'operator',
    webhook.url,
    stateOf(webhook),
    webhook.note,
  ])
  return {
    value: { data },
    text: data.length === 0 ? 'No webhooks.' : table(['ID', 'OF', 'URL', 'STATE', 'NOTE'], rows),
  }
}

export async function showWebhook(ask: Ask, id: string): Promise<Outcome> {
  const webhook = await ask<WebhookReply>({ method: 'GET', path: adminPath('webhooks', id) })
  const lines = [
    ['id', webhook.id],
    ['of', webhook.account ?? 'operator'],
    ['url', webhook.url],
    ['events', webhook.events.join(', ')],
    ['note', webhook.note === '' ? '–' : webhook.note],
    ['created', webhook.created_at],
    ['state', stateOf(webhook)],
    [
      'old secret',
      webhook.old_secret_ends_at === null ? 'none' : `signs until ${webhook.old_secret_ends_at}`,
    ],
    ['dropped', String(webhook.dropped)],
  ]
  return {
    value: webhook,
    text: lines.map(([word = '', value]) => `${word.padEnd(10)}  ${value}`).join('\n'),
  }
}

export type WebhookChange = {
  readonly url?: string
  readonly event?: readonly string[]
  readonly note?: string
  readonly on?: true
  readonly off?: true
}

/** Changes a webhook, or switches it off or on. */
export async function setWebhook(
  ask: Ask,
  { id, url, event, note, on, off }: WebhookChange & { readonly id: string },
): Promise<Outcome> {
  const isSwitched = on !== undefined || off !== undefined
  const webhook = await ask<WebhookReply>({
    method: 'PATCH',
    path: adminPath('webhooks', id),
    json: { url, events: event, note, ...(isSwitched && { on: off === undefined }) },
  })
  return {
    value: webhook,
    text: `${webhook.id} is ${stateOf(webhook)} and gets ${webhook.events.join(', ')} at ${webhook.url}.`,
  }
}

export async function removeWebhook(ask: Ask, id: string): Promise<Outcome> {
  const removed = await ask<{ readonly id: string }>({ method: 'DELETE', path: adminPath('webhooks', id) })
  return { value: removed, text: `Removed ${removed.id}. Its waiting messages are not sent.` }
}

/** Gives a webhook another secret, which is the output. */
export async function rotateWebhook(
  ask: Ask,
  { id, oldEndsIn }: { readonly id: string; readonly oldEndsIn?: number },
): Promise<Outcome> {
  const webhook = await ask<SecretReply>({
    method: 'POST',
    path: adminPath('webhooks', id, 'rotate'),
    json: { old_ends_in: oldEndsIn },
  })
  const { old_secret_ends_at: end } = webhook
  const old =
    end === null ? 'The old secret does not sign any more.' : `The old secret signs too until ${end}.`
  return { value: webhook, text: webhook.secret, note: `${old} The new one is not shown again.` }
}

export async function testWebhook(ask: Ask, id: string): Promise<Outcome> {
  const delivery = await ask<DeliveryReply>({ method: 'POST', path: adminPath('webhooks', id, 'test') })
  return {
    value: delivery,
    text: `A running server sends the test message ${delivery.id}. "tollgate webhooks deliveries ${id}" shows its outcome.`,
  }
}

export type DeliveryFilters = {
  readonly limit: string
  readonly cursor?: string
  readonly state?: DeliveryReply['state']
}

/** Lists the messages of a webhook, newest first. */
export async function listDeliveries(
  ask: Ask,
  { id, ...query }: DeliveryFilters & { readonly id: string },
): Promise<Outcome> {
  const path = withQuery(adminPath('webhooks', id, 'deliveries'), query)
  const page = await ask<{ readonly data: readonly DeliveryReply[]; readonly next: string | null }>({
    method: 'GET',
    path,
  })
  const rows = page.data.map(delivery => [
    delivery.id,
    delivery.type,
    delivery.occurred_at,
    delivery.state,
    String(delivery.attempts),
    delivery.duration_ms === null ? '–' : `${delivery.duration_ms} ms`,
    delivery.problem ?? '',
  ])
  const head = ['ID', 'EVENT', 'AT', 'STATE', 'ATTEMPTS', 'TOOK', 'PROBLEM']
  return {
    value: page,
    text: rows.length === 0 ? 'No messages.' : table(head, rows),
    ...(page.next !== null && { note: `There are more: continue with --cursor ${page.next}` }),
  }
}

export async function redeliver(
  ask: Ask,
  { id, delivery }: { readonly id: string; readonly delivery: string },
): Promise<Outcome> {
  const path = adminPath('webhooks', id, 'deliveries', delivery, 'redeliver')
  const message = await ask<DeliveryReply>({ method: 'POST', path })
  return { value: message, text: `${message.id} is sent again by a running server.` }
}

function stateOf({ state, off_at: offAt, failing_since: failingSince }: WebhookReply): string {
  if (state === 'switched_off') return `switched off ${offAt}, because all its messages failed for three days`
  if (state === 'off') return `off since ${offAt}`
  return failingSince === null ? 'on' : `on, failing since ${failingSince}`
}
