import { movementKinds } from '../account/balance.ts'
import { keySettingsExample, ownKeySettings } from './key-settings.ts'
import { limitMembers, limitsExample, noLimitsExample, termMembers } from './limits.ts'
import { ok, statementParameters, usageParameters, type Paths } from './operation.ts'
import {
  about,
  always,
  count,
  flag,
  dateTime,
  idOf,
  listOf,
  mapOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  usd,
  words,
  type Members,
} from './schema.ts'

const tokens = {
  input_tokens: count,
  output_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  cache_write_1h_tokens: count,
  audio_input_tokens: count,
  reasoning_tokens: count,
  audio_output_tokens: count,
  server_tool_uses: count,
  search_calls: count,
  file_searches: count,
  service_tier: about('As the answer names it.', nullable(text)),
} as const satisfies Members

const assumedTokens: Members = {
  assumed_cached_tokens: about(
    'The cached tokens of an estimate, which an earlier request suggests. Absent for none.',
    count,
  ),
}

/** Of images that are priced by their tokens. */
const imageTokens = {
  text_input_tokens: count,
  image_input_tokens: count,
  text_output_tokens: count,
  image_output_tokens: count,
} as const satisfies Members

/** For whom a request was made, as its client says. */
export const attributionMembers = {
  tags: about('The tags of the request. Absent for none.', mapOf(text)),
  user: about('The end user that the request names. Absent for none.', text),
} as const satisfies Members

/** The project of a charge. */
export const projectOfKey = about('The id of the project of its key.', nullable(idOf('proj')))

/** The members of a charged request or job. The admin API adds the account and the key. */
export const chargeMembers = {
  id: about('The request id of the reply, or the id of the job.', idOf('req', 'img', 'vid')),
  object: always('usage'),
  route: text,
  model: text,
  usage: {
    anyOf: [
      object(tokens, assumedTokens),
      object({ images: count }, imageTokens),
      object({ seconds: { type: 'number', minimum: 0 } }),
    ],
  },
  source: about('Whether the provider counted, or the gateway estimated.', words(['reported', 'estimated'])),
  is_clamped: about('An impossible reported number was replaced by the nearest possible one.', flag),
  cost_usd: usd,
  refunded_usd: about('The sum of its refunds until now.', usd),
  created_at: dateTime,
} as const satisfies Members

const sums = {
  charges: count,
  input_tokens: count,
  output_tokens: count,
  images: count,
  seconds: { type: 'number', minimum: 0 },
  cost_usd: about('Net of the refunds that were made in the range.', usd),
  refunded_usd: usd,
} as const satisfies Members

/** The members of totals and of groups, as customers see them. */
export const totalsMembers = { from: dateTime, to: dateTime, ...sums } as const satisfies Members
export const groupMembers = {
  object: always('usage_group'),
  value: about('Of the tag, or the user. Null for requests without it.', nullable(text)),
  ...sums,
} as const satisfies Members

export const accountSchemas: Members = {
  OwnKey: object({
    object: always('key'),
    id: idOf('key'),
    name: text,
    created_at: dateTime,
    ...ownKeySettings,
    ...limitMembers,
    project: about(
      'The project of the key.',
      nullable(object({ id: idOf('proj'), name: text, ...termMembers })),
    ),
    account: object({ ...limitMembers, contacts: about('Who gets mails about the account.', listOf(text)) }),
  }),
  Balance: object({
    object: always('balance'),
    currency: always('USD'),
    available_usd: usd,
    held_usd: usd,
    held: object({ text_usd: usd, media_usd: usd }),
    spent: object({ text_usd: usd, media_usd: usd }),
  }),
  Credits: object({ balance: usd, total_used: usd }),
  Charge: object({ ...chargeMembers, project: projectOfKey }, attributionMembers),
  UsageTotals: object(totalsMembers),
  UsageGroup: object(groupMembers),
  Movement: object(
    {
      id: text,
      object: always('movement'),
      kind: words(movementKinds),
      amount_usd: about('The change of the available balance.', usd),
      ref: about('The request or the job; null for credits.', nullable(text)),
      created_at: dateTime,
    },
    attributionMembers,
  ),
}

const usageExample = {
  input_tokens: 6,
  output_tokens: 10,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  audio_input_tokens: 0,
  reasoning_tokens: 0,
  audio_output_tokens: 0,
  server_tool_uses: 0,
  search_calls: 0,
  file_searches: 0,
  service_tier: null,
}
export const chargeExample = {
  id: 'req_01m7yafb7z000c1awn4tmfekz0',
  object: 'usage',
  route: 'chat',
  model: 'sandbox-chat',
  usage: usageExample,
  cost_usd: '0.000115',
  refunded_usd: '0',
  source: 'reported',
  is_clamped: false,
  tags: { team: 'red' },
  user: 'user-17',
  created_at: '2026-11-21T05:50:09.183Z',
}
const movement = {
  id: 'op_01m7yafb7z000c1awn4tmfekz0',
  object: 'movement',
  kind: 'charge',
  amount_usd: '-0.000115',
  ref: 'req_01m7yafb7z000c1awn4tmfekz0',
  created_at: '2026-11-21T05:50:09.183Z',
}
const lastPage = { has_more: false, next: null }
const common = { tag: 'Account', access: 'customer' } as const

/** The money of the account of a key. */
export const accountPaths: Paths = {
  '/v1/balance': {
    get: {
      ...common,
      id: 'readBalance',
      summary: 'The balance of the account',
      replies: ok('The balance.', ref('Balance'), {
        object: 'balance',
        currency: 'USD',
        available_usd: '9.999885',
        held_usd: '0',
        held: { text_usd: '0', media_usd: '0' },
        spent: { text_usd: '0.000115', media_usd: '0' },
      }),
      errors: [],
    },
  },
  '/v1/credits': {
    get: {
      ...common,
      id: 'readCredits',
      summary: 'The balance in a form that some clients expect',
      replies: ok('The balance.', ref('Credits'), { balance: '9.999885', total_used: '0.000115' }),
      errors: [],
    },
  },
  '/v1/key': {
    get: {
      ...common,
      id: 'readKey',
      summary: 'The key of the request, with what it may use, and the limits of its project and its account',
      replies: ok('The key.', ref('OwnKey'), {
        object: 'key',
        id: 'key_01m7yafb7z000c1awn4tmfekz0',
        name: 'default',
        created_at: '2026-11-21T05:50:09.183Z',
        expires_at: keySettingsExample.expires_at,
        disabled_at: null,
        models: keySettingsExample.models,
        routes: keySettingsExample.routes,
        ...limitsExample,
        project: null,
        account: { ...noLimitsExample, contacts: ['ada@example.com'] },
      }),
      errors: [],
    },
  },
  '/v1/usage': {
    get: {
      ...common,
      id: 'listUsage',
      summary: 'The charged requests, newest first',
      parameters: usageParameters,
      replies: ok(
        'A page. With `from`, it also has the totals of the range. With `group_by`, its rows are sums.',
        {
          ...pageSchema(
            { anyOf: [ref('Charge'), ref('UsageGroup')] },
            { totals: ref('UsageTotals'), object: always('list') },
          ),
        },
        { object: 'list', data: [{ ...chargeExample, project: null }], ...lastPage },
      ),
      errors: ['invalid_field'],
    },
  },
  '/v1/statement': {
    get: {
      ...common,
      id: 'listMovements',
      summary: 'The money movements, newest first',
      parameters: statementParameters(movementKinds),
      replies: ok('A page.', pageSchema(ref('Movement'), { object: always('list') }), {
        object: 'list',
        data: [movement],
        ...lastPage,
      }),
      errors: ['invalid_field'],
    },
  },
}
