import { jobIdPrefix, jobTransitions } from '../../domain/jobs/job.ts'
import { attemptTransitions } from '../../domain/ledger/attempt.ts'
import { scopeKinds } from '../../domain/limits/scope.ts'
import { recordedLimits } from '../../gateway/ports/requests/request-records.ts'
import { requestSorts } from '../account/request-filters.ts'
import { requestOutcomes } from '../../gateway/requests/explain-request.ts'
import { itemWords } from '../account/requests-json.ts'
import { attributionMembers, chargeExample, chargeMembers } from './account.ts'
import { ok, pageParameters, timeRangeParameters, type Parameter, type Paths } from './operation.ts'
import {
  about,
  always,
  count,
  dateTime,
  flag,
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
  type Schema,
} from './schema.ts'

const milliseconds: Schema = { type: 'number', minimum: 0 }
/** A decimal string of any precision. */
const exact: Schema = { type: 'string', pattern: '^(?:0|[1-9]\\d*)(?:\\.\\d*[1-9])?$' }
const jobId = idOf(...Object.values(jobIdPrefix))

const recordMembers: Members = {
  id: idOf('req'),
  object: always('request'),
  created_at: about('When it arrived.', dateTime),
  key: idOf('key'),
  project: about('The project of the key.', nullable(idOf('proj'))),
  route: text,
  model: about('Null if it was refused before its model was found.', nullable(text)),
  status: about('The status of the reply; 499 if the client disconnected before it.', { type: 'integer' }),
  error_code: about('Null for a success. A stream that broke has the status 200 and a code.', nullable(text)),
  duration_ms: milliseconds,
  first_byte_ms: nullable(milliseconds),
  held_usd: nullable(usd),
  required_usd: about('What a request that was refused for money had to hold.', nullable(usd)),
  available_usd: about('What was left for it.', nullable(usd)),
  refused_by: about(
    'The limit or budget that refused it, of its account, project or key, or one of these with the model.',
    nullable(object({ scope: words(scopeKinds), limit: words(recordedLimits) })),
  ),
  cost_usd: about('Null if nothing was charged when the reply ended.', nullable(usd)),
  job: about('The job that it made or got again.', nullable(jobId)),
  is_replay: flag,
  replay_of: about('The request whose answer it got, if it is known.', nullable(idOf('req'))),
  client_disconnected: flag,
  tags: mapOf(text),
  user: nullable(text),
  alike_refusals: about(
    'The number of further refusals of the key with the same code in the same minute, which are only counted.',
    count,
  ),
}

const arithmetic = object({
  items: listOf(
    object({
      item: words(itemWords),
      quantity: { type: 'number', minimum: 0 },
      per: about('The price is for this many units.', count),
      price_usd: usd,
      amount_usd: about('Exact, with the factor of the service tier.', exact),
    }),
  ),
  sum_usd: about('Exact.', exact),
  total_usd: about('The sum, rounded up once to nine decimals.', usd),
  above_input_tokens: about('The tier of prices for long inputs that applied.', nullable(count)),
  service_tier: about('If it has a factor for the prices of tokens.', nullable(text)),
  service_tier_factor: nullable(exact),
  is_at_most: about('The tokens of images cost more than the highest price, which is the total.', flag),
})

const refundMembers: Members = { id: idOf('op'), amount_usd: usd, created_at: dateTime }
const noteMember: Members = { note: about('Only for operators.', nullable(text)) }

const chargePageMembers: Members = {
  ...chargeMembers,
  shortfall_usd: about('The amount by which the cost exceeded the hold.', usd),
  pricing: words(['tariff', 'free', 'upstream_cost']),
  arithmetic: about('How the cost was computed. Null without a tariff.', nullable(arithmetic)),
  refunds: listOf(object(refundMembers)),
}

const jobPageMembers: Members = {
  id: jobId,
  kind: words(Object.keys(jobIdPrefix)),
  state: words(Object.keys(jobTransitions)),
  model: text,
  route: text,
  reserved_usd: about('While it runs.', usd),
  failure: nullable(object({ code: nullable(text), message: text })),
  created_at: dateTime,
  changed_at: dateTime,
  deadline_at: dateTime,
}

const hold = object({
  amount_usd: usd,
  state: words(['open', 'captured', 'released', 'expired']),
  placed_at: about('Null for text, whose holds are not stored.', nullable(dateTime)),
  ended_at: nullable(dateTime),
})

const pageMembers: Members = {
  id: about('Of the request, or of its job if the request is not known.', idOf('req', 'img', 'vid')),
  object: always('request_page'),
  outcome: words(requestOutcomes),
  why: about('Sentences for people.', listOf(text)),
  hold: nullable(hold),
}

const movementMembers: Members = {
  id: idOf('op'),
  object: always('movement_page'),
  kind: words(['top_up', 'grant', 'debit']),
  amount_usd: usd,
  created_at: dateTime,
}

const ownerMembers: Members = { account: nullable(idOf('acct')), account_name: nullable(text) }

export const requestSchemas: Members = {
  Request: object(recordMembers),
  RequestPage: object({
    ...pageMembers,
    request: about('Null if its record is not kept.', nullable(ref('Request'))),
    charge: nullable(object(chargePageMembers, attributionMembers)),
    job: nullable(object(jobPageMembers)),
  }),
  MovementPage: object(movementMembers),
  AdminRequest: object({
    ...recordMembers,
    account: idOf('acct'),
    account_name: nullable(text),
    attempts: about(
      'The calls of upstreams in their order. The reason of the one that served is null.',
      listOf(object({ provider: text, reason: nullable(text) })),
    ),
  }),
  AdminRequestPage: object({
    ...pageMembers,
    ...ownerMembers,
    request: nullable(ref('AdminRequest')),
    charge: nullable(
      object(
        {
          ...chargePageMembers,
          refunds: listOf(object({ ...refundMembers, ...noteMember })),
          provider: text,
          provider_cost_usd: nullable(usd),
        },
        attributionMembers,
      ),
    ),
    undelivered_attempts: about(
      'Calls of upstreams whose answers did not reach the client.',
      listOf(
        object({
          number: count,
          provider: text,
          state: words(Object.keys(attemptTransitions)),
          input_tokens: nullable(count),
          output_tokens: nullable(count),
          cost_usd: about('What was charged and given back.', nullable(usd)),
          provider_cost_usd: nullable(usd),
          at: dateTime,
        }),
      ),
    ),
    job: nullable(
      object({
        ...jobPageMembers,
        provider: text,
        upstream_id: nullable(text),
        problem: nullable(text),
        loss_usd: nullable(usd),
        provider_cost_usd: nullable(usd),
        why: nullable(text),
        next: nullable(text),
        history: listOf(
          object({ state: words(Object.keys(jobTransitions)), detail: nullable(text), at: dateTime }),
        ),
      }),
    ),
  }),
  AdminMovementPage: object({ ...movementMembers, ...noteMember, ...ownerMembers }),
}

const AT = '2026-11-21T05:50:09.183Z'
const request = {
  id: 'req_01m7yafb7z000c1awn4tmfekz0',
  object: 'request',
  created_at: AT,
  key: 'key_01m7yafb7z000c1awn4tmfekz0',
  project: null,
  route: 'chat',
  model: 'sandbox-chat',
  status: 200,
  error_code: null,
  duration_ms: 412.7,
  first_byte_ms: 408.1,
  held_usd: '0.041',
  required_usd: null,
  available_usd: null,
  refused_by: null,
  cost_usd: '0.000115',
  job: null,
  is_replay: false,
  replay_of: null,
  client_disconnected: false,
  tags: { team: 'search' },
  user: null,
  alike_refusals: 0,
}
const owner = { account: 'acct_01m7yafb7z000c1awn4tmfekz0', account_name: 'ada' }
const adminRequest = { ...request, ...owner, attempts: [{ provider: 'sandbox', reason: null }] }
const charge = {
  ...chargeExample,
  shortfall_usd: '0',
  pricing: 'tariff',
  arithmetic: {
    items: [
      { item: 'input', quantity: 6, per: 1000000, price_usd: '2.5', amount_usd: '0.000015' },
      { item: 'output', quantity: 10, per: 1000000, price_usd: '10', amount_usd: '0.0001' },
    ],
    sum_usd: '0.000115',
    total_usd: '0.000115',
    above_input_tokens: null,
    service_tier: null,
    service_tier_factor: null,
    is_at_most: false,
  },
  refunds: [],
}
const page = {
  id: request.id,
  object: 'request_page',
  outcome: 'charged',
  why: ['0.000115 USD was charged for 6 input tokens and 10 output tokens.'],
  hold: { amount_usd: '0.041', state: 'captured', placed_at: null, ended_at: null },
}

const STATUS: Schema = { type: 'string', pattern: '^[1-5]\\d\\d$' }

const filters: readonly Parameter[] = [
  parameter('project', 'Only requests of the keys of this project, by its id.', idOf('proj')),
  parameter('model', 'Only requests for this model.', text),
  parameter('code', 'Only requests with this error code.', text, 'insufficient_balance'),
  parameter('failed', 'Only requests with an error code or a status from 400.', words(['true', 'false'])),
  parameter('status', 'Only requests with this status of the reply.', STATUS, '429'),
  parameter('tag', 'Only requests with this tag, as name=value.', text, 'team=search'),
  parameter('user', 'Only requests for this end user of the client.', text),
  parameter('sort', 'The latest, the most expensive or the longest ones first.', {
    ...words(requestSorts),
    default: 'newest',
  }),
  ...timeRangeParameters,
  ...pageParameters.filter(({ name }) => name !== 'cursor'),
  parameter('cursor', 'The `next` of an earlier page. Without it, the first page is returned.', text),
]

function parameter(name: string, description: string, schema: Schema, example?: string): Parameter {
  return { name, in: 'query', description, schema, ...(example !== undefined && { example }) }
}

const ofKey = parameter('key', 'Only requests of this key, by its id or its first 12 characters.', text)

function idParameter(name: string): Parameter {
  return {
    name,
    in: 'path',
    description:
      'The id of a request, its job or its hold, or of a line of the statement: req_…, img_…, vid_…, hold_…, op_….',
    schema: text,
    example: request.id,
  }
}

const lastPage = { has_more: false, next: null }
const ofCustomer = { tag: 'Account', access: 'customer' } as const
const ofAdmin = { tag: 'Admin: reading and checking', access: 'admin' } as const

/** The billable requests of the account of a key. */
export const requestPaths: Paths = {
  '/v1/requests': {
    get: {
      ...ofCustomer,
      id: 'listRequests',
      summary: 'The billable requests, refused ones included',
      parameters: [ofKey, ...filters],
      replies: ok('A page.', pageSchema(ref('Request'), { object: always('list') }), {
        object: 'list',
        data: [request],
        ...lastPage,
      }),
      errors: ['invalid_field', 'requests_per_minute', 'unavailable', 'overloaded'],
    },
  },
  '/v1/requests/{id}': {
    get: {
      ...ofCustomer,
      id: 'readRequest',
      summary: 'Why a request was charged or refused',
      parameters: [idParameter('id')],
      replies: ok(
        'The request, or a credit or a debit.',
        { anyOf: [ref('RequestPage'), ref('MovementPage')] },
        { ...page, request, charge, job: null },
      ),
      errors: ['not_found', 'requests_per_minute'],
    },
  },
}

/** The billable requests of all accounts. */
export const adminRequestPaths: Paths = {
  requests: {
    get: {
      ...ofAdmin,
      id: 'listAdminRequests',
      summary: 'The billable requests, refused ones included',
      parameters: [
        parameter('account', 'The id or the name of an account. Default: all.', text, 'ada'),
        ofKey,
        ...filters,
      ],
      replies: ok('A page.', pageSchema(ref('AdminRequest')), { data: [adminRequest], ...lastPage }),
      errors: ['invalid_field', 'not_found', 'unavailable', 'overloaded'],
    },
  },
  'requests/{request}': {
    get: {
      ...ofAdmin,
      id: 'readAdminRequest',
      summary: 'All that is known about a request: reply, hold, charge, attempts and job',
      parameters: [idParameter('request')],
      replies: ok(
        'The request, or a credit or a debit.',
        { anyOf: [ref('AdminRequestPage'), ref('AdminMovementPage')] },
        {
          ...page,
          ...owner,
          request: adminRequest,
          charge: { ...charge, provider: 'sandbox', provider_cost_usd: null },
          undelivered_attempts: [],
          job: null,
        },
      ),
      errors: ['not_found'],
    },
  },
}
