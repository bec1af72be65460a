import { eventTypes } from '../../../domain/webhooks/event.ts'
import { messageStates } from '../../../domain/webhooks/webhook.ts'
import { ACCOUNT } from './accounts.ts'
import { bodyOf, ok, pageParameters, type Parameter, type Paths } from '../operation.ts'
import {
  about,
  always,
  closed,
  count,
  dateTime,
  flag,
  idOf,
  listOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  words,
  type Members,
} from '../schema.ts'

const types = words(Object.keys(eventTypes))
const events = listOf(types, { minItems: 1 })
const address = about('An https:// address.', { type: 'string', maxLength: 2000 })
const note = about('For people.', { type: 'string', maxLength: 500 })

const webhookMembers: Members = {
  id: idOf('whk'),
  account: about('Null for a webhook of the operator.', nullable(idOf('acct'))),
  url: text,
  events: listOf(types),
  note: text,
  created_at: dateTime,
  state: about(
    '`off` if an operator switched it off, `switched_off` if all its messages failed for three days.',
    words(['on', 'off', 'switched_off']),
  ),
  off_at: nullable(dateTime),
  failing_since: about('Since when every attempt failed.', nullable(dateTime)),
  old_secret_ends_at: about(
    'Until when the secret before the latest rotation signs too.',
    nullable(dateTime),
  ),
  dropped: about('The messages that were dropped, because 10,000 others were waiting.', count),
}
const secret = about('Signs the messages. Only this reply has it.', {
  type: 'string',
  pattern: '^whsec_[0-9A-Za-z+/]+=*$',
})

export const adminWebhookSchemas: Members = {
  Webhook: object(webhookMembers),
  WebhookWithSecret: object({ ...webhookMembers, secret }),
  WebhookDelivery: object({
    id: about('The `webhook-id` of each attempt.', idOf('msg')),
    event: idOf('evt'),
    type: types,
    occurred_at: dateTime,
    state: words(messageStates),
    attempts: count,
    next_attempt_at: nullable(dateTime),
    attempted_at: nullable(dateTime),
    status: about('The status of the latest answer.', nullable(count)),
    duration_ms: nullable(count),
    problem: about('Why the latest attempt failed. Null if it succeeded.', nullable(text)),
  }),
  NewWebhook: closed(
    { url: address },
    {
      events: about('Default: all events that its owner may have.', nullable(events)),
      account: about('The id or the name of its account. Default: the operator.', nullable(text)),
      note: nullable(note),
    },
  ),
  WebhookChange: closed(
    {},
    {
      url: nullable(address),
      events: nullable(events),
      note: nullable(note),
      on: about('False ends its waiting messages.', flag),
    },
  ),
  WebhookRotation: closed(
    {},
    { old_ends_in: { type: 'integer', minimum: 0, maximum: 604_800, default: 86_400 } },
  ),
}

const WEBHOOK = 'whk_01m7yafb7z000c1awn4tmfekz0'
const MESSAGE = 'msg_01m7yafb7z000c1awn4tmfekz0'
const AT = '2026-11-21T05:50:09.183Z'
const webhook = {
  id: WEBHOOK,
  account: ACCOUNT,
  url: 'https://example.com/tollgate',
  events: ['balance.low', 'balance.topped_up'],
  note: 'the billing team of ada',
  created_at: AT,
  state: 'on',
  off_at: null,
  failing_since: null,
  old_secret_ends_at: null,
  dropped: 0,
}
const withSecret = { ...webhook, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }
const waiting = {
  id: MESSAGE,
  event: 'evt_01m7yafb7z000c1awn4tmfekz0',
  type: 'balance.low',
  occurred_at: AT,
  state: 'waiting',
  attempts: 0,
  next_attempt_at: AT,
  attempted_at: null,
  status: null,
  duration_ms: null,
  problem: null,
}
const common = { tag: 'Admin: webhooks', access: 'admin' } as const
const webhookParameter: Parameter = {
  name: 'webhook',
  in: 'path',
  description: 'The id of the webhook.',
  schema: text,
  example: WEBHOOK,
}
const ofWebhook = { ...common, parameters: [webhookParameter] } as const

/** Addresses that get signed messages about events, and the log of their messages. */
export const adminWebhookPaths: Paths = {
  webhooks: {
    get: {
      ...common,
      id: 'listWebhooks',
      summary: 'The webhooks, oldest first, without their secrets',
      parameters: [
        {
          name: 'account',
          in: 'query',
          description: 'Only those of this account, by its id or name.',
          schema: text,
          example: 'ada',
        },
      ],
      replies: ok('The webhooks.', object({ data: listOf(ref('Webhook')) }), { data: [webhook] }),
      errors: ['not_found', 'invalid_field'],
    },
    post: {
      ...common,
      id: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'Without an account, it gets the events of all accounts and of the gateway. With one, it gets only events about this account.',
      body: bodyOf('NewWebhook', { url: webhook.url, account: 'ada', events: webhook.events }),
      replies: ok('The webhook with its secret.', ref('WebhookWithSecret'), withSecret),
      errors: ['not_found', 'too_many_webhooks'],
    },
  },
  'webhooks/{webhook}': {
    get: {
      ...ofWebhook,
      id: 'readWebhook',
      summary: 'A webhook, without its secret',
      replies: ok('The webhook.', ref('Webhook'), webhook),
      errors: ['not_found'],
    },
    patch: {
      ...ofWebhook,
      id: 'changeWebhook',
      summary: 'Change a webhook, or switch it off or on',
      body: bodyOf('WebhookChange', { on: false }),
      replies: ok('The webhook.', ref('Webhook'), { ...webhook, state: 'off', off_at: AT }),
      errors: ['not_found'],
    },
    delete: {
      ...ofWebhook,
      id: 'removeWebhook',
      summary: 'Remove a webhook',
      description: 'Its waiting messages are not sent.',
      replies: ok('Its id.', object({ id: idOf('whk'), removed: always(true) }), {
        id: WEBHOOK,
        removed: true,
      }),
      errors: ['not_found'],
    },
  },
  'webhooks/{webhook}/rotate': {
    post: {
      ...ofWebhook,
      id: 'rotateWebhook',
      summary: 'Give a webhook another secret',
      description: 'Until the end of the old secret, in seconds from now, both secrets sign each message.',
      body: bodyOf('WebhookRotation', { old_ends_in: 3600 }, { isRequired: false }),
      replies: ok('The webhook with its new secret.', ref('WebhookWithSecret'), {
        ...withSecret,
        old_secret_ends_at: '2026-11-21T06:50:09.183Z',
      }),
      errors: ['not_found'],
    },
  },
  'webhooks/{webhook}/test': {
    post: {
      ...ofWebhook,
      id: 'testWebhook',
      summary: 'Queue a test message',
      description: 'The list of deliveries has its outcome.',
      replies: ok('The delivery.', ref('WebhookDelivery'), { ...waiting, type: 'webhook.test' }),
      errors: ['not_found', 'webhook_off'],
    },
  },
  'webhooks/{webhook}/deliveries': {
    get: {
      ...common,
      id: 'listWebhookDeliveries',
      summary: 'The messages of a webhook, newest first, for 30 days',
      parameters: [
        webhookParameter,
        ...pageParameters,
        {
          name: 'state',
          in: 'query',
          description: 'Only those in this state.',
          schema: words(messageStates),
        },
      ],
      replies: ok('A page.', pageSchema(ref('WebhookDelivery')), {
        data: [
          {
            ...waiting,
            attempts: 1,
            attempted_at: AT,
            next_attempt_at: '2026-11-21T05:50:14.183Z',
            status: 503,
            duration_ms: 41,
            problem: 'status 503',
          },
        ],
        has_more: false,
        next: null,
      }),
      errors: ['not_found', 'invalid_field'],
    },
  },
  'webhooks/{webhook}/deliveries/{delivery}/redeliver': {
    post: {
      ...common,
      id: 'redeliverWebhookMessage',
      summary: 'Send a message again',
      description: 'With the same `webhook-id`, as if it had no attempts.',
      parameters: [
        webhookParameter,
        {
          name: 'delivery',
          in: 'path',
          description: 'The id of the message.',
          schema: text,
          example: MESSAGE,
        },
      ],
      replies: ok('The delivery.', ref('WebhookDelivery'), waiting),
      errors: ['not_found', 'webhook_off'],
    },
  },
}
