import { budgetPeriods, scopeKinds } from '../../domain/limits/scope.ts'
import { eventTypes, type EventType } from '../../domain/webhooks/event.ts'
import { json } from './operation.ts'
import {
  about,
  always,
  dateTime,
  idOf,
  listOf,
  nullable,
  object,
  ref,
  text,
  usd,
  words,
  type Members,
  type Schema,
} from './schema.ts'

export const EVENTS_TAG = 'Events'

const AT = '2026-11-21T05:50:09.183Z'
const account = { id: 'acct_01m7yafb7z000c1awn4tmfekz0', name: 'ada' }
const key = { id: 'key_01m7yafb7z000c1awn4tmfekz0', name: 'production' }
const WEBHOOK = 'whk_01m7yafb7z000c1awn4tmfekz0'

const credit = { amount_usd: usd, available_usd: usd }
const named = (prefix: string) => object({ id: idOf(prefix), name: text })
const budget = {
  scope: words(scopeKinds),
  key: about('Null unless the budget is one of a key.', nullable(named('key'))),
  project: about('Null unless the budget is one of a project.', nullable(named('proj'))),
  model: about('Null for a budget of all models.', nullable(text)),
  period: words(budgetPeriods),
  budget_usd: usd,
  spent_usd: usd,
  resets_at: about('When the next period starts. Null for `total`.', nullable(dateTime)),
}
const provider = { provider: text, models: about('As the provider names them.', listOf(text)) }
const spentBudget = {
  scope: 'key',
  key,
  project: null,
  model: null,
  period: 'month',
  budget_usd: '20',
  resets_at: '2026-12-01T00:00:00.000Z',
}

/**
 * The members of `data` of each event beside the account, and an example of `data`. docs/webhooks.md has the examples.
 */
export const messages: Readonly<Record<EventType, { readonly members: Members; readonly data: object }>> = {
  'balance.low': {
    members: { balance_usd: usd, alert_below_usd: usd },
    data: { account, balance_usd: '4.5', alert_below_usd: '5' },
  },
  'balance.granted': {
    members: credit,
    data: { account, amount_usd: '5', available_usd: '9.5' },
  },
  'balance.topped_up': {
    members: credit,
    data: { account, amount_usd: '50', available_usd: '59.5' },
  },
  'budget.nearly_spent': { members: budget, data: { account, ...spentBudget, spent_usd: '16.25' } },
  'budget.reached': { members: budget, data: { account, ...spentBudget, spent_usd: '19.75' } },
  'job.finished': {
    members: {
      job: idOf('img', 'vid'),
      status: words(['completed', 'failed']),
      model: text,
      cost_usd: usd,
      error: about('Null unless it failed.', nullable(object({ message: text, code: nullable(text) }))),
      created_at: dateTime,
    },
    data: {
      account,
      job: 'img_01m7yafb7z000c1awn4tmfekz0',
      status: 'completed',
      model: 'draw-1',
      cost_usd: '0.08',
      error: null,
      created_at: '2026-11-21T05:49:31.020Z',
    },
  },
  'key.expiring': {
    members: { key: named('key'), expires_at: dateTime },
    data: { account, key, expires_at: '2026-11-28T00:00:00.000Z' },
  },
  'provider.failing': { members: provider, data: { provider: 'openai', models: ['gpt-5-mini'] } },
  'provider.recovered': { members: provider, data: { provider: 'openai', models: ['gpt-5-mini'] } },
  'books.problem': {
    members: { problem: text, message: text },
    data: {
      problem: 'prob_5d1b3f0a2c7e4f60',
      message: 'Account "ada": the balance is 5.999735 USD, but its entries add up to 6 USD.',
    },
  },
  'webhook.switched_off': {
    members: { webhook: idOf('whk'), url: text, problem: nullable(text) },
    data: { webhook: WEBHOOK, url: 'https://example.com/tollgate', problem: 'status 500' },
  },
  'webhook.test': {
    members: { webhook: idOf('whk') },
    data: { account, webhook: WEBHOOK },
  },
}

/** The schema of the body of a message. */
export function messageSchema(type: EventType): Schema {
  const { members } = messages[type]
  const account = eventTypes[type].about === 'account' ? { account: ref('EventAccount') } : {}
  return object({
    id: about('The same in the messages of all webhooks.', idOf('evt')),
    type: always(type),
    timestamp: dateTime,
    // A test of a webhook of the operator is about no account.
    data: type === 'webhook.test' ? object(members, account) : object({ ...account, ...members }),
  })
}

export const messageSchemas: Members = { EventAccount: named('acct') }

const headers = [
  [
    'webhook-id',
    'The same for each attempt of a message: ignore a repeat.',
    'msg_01m7yafb7z000c1awn4tmfekz0',
  ],
  ['webhook-timestamp', 'The time of the attempt, in seconds since 1970.', '1795240209'],
  [
    'webhook-signature',
    'Signatures of the id, the time and the body by the Standard Webhooks specification, separated by spaces.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
] as const

/** The messages that an OpenAPI document describes, by their types. */
export function messageObjects(of: 'all' | 'account') {
  const types = (Object.keys(eventTypes) as EventType[]).filter(
    type => of === 'all' || eventTypes[type].about === 'account',
  )
  return Object.fromEntries(types.map(type => [type, messageObject(type)]))
}

function messageObject(type: EventType) {
  const example = { id: 'evt_01m7yafb7z000c1awn4tmfekz0', type, timestamp: AT, data: messages[type].data }
  return {
    operationId: `on${type.split(/[._]/).map(capitalized).join('')}`,
    summary: eventTypes[type].meaning.split('. ')[0]?.replace(/\.$/, '') ?? type,
    description: eventTypes[type].meaning,
    tags: [EVENTS_TAG],
    security: [],
    parameters: headers.map(([name, description, value]) => ({
      name,
      in: 'header',
      description,
      required: true,
      schema: text,
      example: value,
    })),
    body: json(messageSchema(type), { example }),
    responses: {
      '2XX': { description: 'The message was received. The body is not read.' },
      '4XX': { description: 'Like any other answer: the message is sent again later.' },
    },
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
