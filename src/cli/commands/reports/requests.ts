import { adminPath, withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'
import { findKey } from '../accounts/keys.ts'

export type RequestFilters = {
  readonly account?: string
  readonly key?: string
  readonly project?: string
  readonly model?: string
  readonly code?: string
  readonly failed?: true
  readonly status?: string
  readonly tag?: string
  readonly user?: string
  readonly from?: string
  readonly to?: string
  readonly sort?: string
  readonly limit: string
  readonly cursor?: string
}

/** The record of a request in the admin API. */
type RequestRow = {
  readonly id: string
  readonly created_at: string
  readonly account_name: string | null
  readonly key: string
  readonly project: string | null
  readonly route: string
  readonly model: string | null
  readonly status: number
  readonly error_code: string | null
  readonly duration_ms: number
  readonly first_byte_ms: number | null
  readonly refused_by: { readonly scope: string; readonly limit: string } | null
  readonly cost_usd: string | null
  readonly is_replay: boolean
  readonly tags: Readonly<Record<string, string>>
  readonly user: string | null
  readonly attempts: readonly { readonly provider: string; readonly reason: string | null }[]
}

type ItemRow = {
  readonly item: string
  readonly quantity: number
  readonly per: number
  readonly price_usd: string
  readonly amount_usd: string
}

type RequestPageReply = {
  readonly id: string
  readonly object: 'request_page'
  readonly outcome: string
  readonly why: readonly string[]
  readonly account: string | null
  readonly account_name: string | null
  readonly request: RequestRow | null
  readonly hold: { readonly amount_usd: string; readonly state: string } | null
  readonly charge:
    | ({
        readonly model: string
        readonly provider: string
        readonly usage: Readonly<Record<string, number | string | null>>
        readonly source: string
        readonly cost_usd: string
        readonly provider_cost_usd: string | null
        readonly shortfall_usd: string
        readonly pricing: string
        readonly created_at: string
        readonly refunds: readonly RefundRow[]
      } & { readonly arithmetic: ArithmeticReply | null })
    | null
  readonly undelivered_attempts: readonly {
    readonly provider: string
    readonly state: string
    readonly cost_usd: string | null
    readonly provider_cost_usd: string | null
    readonly at: string
  }[]
  readonly job: {
    readonly id: string
    readonly state: string
    readonly why: string | null
    readonly next: string | null
    readonly history: readonly {
      readonly at: string
      readonly state: string
      readonly detail: string | null
    }[]
  } | null
}

type RefundRow = {
  readonly id: string
  readonly amount_usd: string
  readonly note: string | null
  readonly created_at: string
}

type ArithmeticReply = {
  readonly items: readonly ItemRow[]
  readonly sum_usd: string
  readonly total_usd: string
  readonly above_input_tokens: number | null
  readonly service_tier: string | null
  readonly service_tier_factor: string | null
  readonly is_at_most: boolean
}

type MovementReply = {
  readonly id: string
  readonly object: 'movement_page'
  readonly kind: string
  readonly amount_usd: string
  readonly note: string | null
  readonly created_at: string
  readonly account: string | null
  readonly account_name: string | null
}

/** Prints one page of billable requests, refused ones included. */
export async function listRequests(ask: Ask, { failed, key, ...filters }: RequestFilters): Promise<Outcome> {
  const page = await ask<{ readonly data: readonly RequestRow[]; readonly next: string | null }>({
    method: 'GET',
    path: withQuery('requests', {
      ...filters,
      failed: failed === true ? 'true' : undefined,
      // A whole key must not be in a URL.
      key: key === undefined ? undefined : (await findKey(ask, key)).id,
    }),
  })
  const rows = page.data.map(row => [
    row.created_at,
    row.id,
    row.account_name ?? '–',
    row.route,
    row.model ?? '–',
    String(row.status),
    endOf(row),
    row.cost_usd ?? '–',
    String(Math.round(row.duration_ms)),
  ])
  const head = ['CREATED', 'ID', 'ACCOUNT', 'ROUTE', 'MODEL', 'STATUS', 'CODE', 'USD', 'MS']
  return {
    value: page,
    text: rows.length === 0 ? 'No requests.' : table(head, rows),
    ...(page.next === null ? {} : { note: `More requests: --cursor ${page.next}` }),
  }
}

function endOf({ error_code: code, is_replay: isReplay }: RequestRow): string {
  return code ?? (isReplay ? 'replay' : '–')
}

/** Prints all that is known about a request, a job, a credit or a debit. */
export async function showRequest(ask: Ask, id: string): Promise<Outcome> {
  const page = await ask<RequestPageReply | MovementReply>({
    method: 'GET',
    path: adminPath('requests', id),
  })
  return { value: page, text: page.object === 'request_page' ? requestText(page) : movementText(page) }
}

function requestText(page: RequestPageReply): string {
  const { id, outcome, why, account, account_name: name, request, hold, charge, job } = page
  const lines = [
    ['account', `${name ?? '–'} (${account ?? '–'})`],
    ...(request === null ? [] : replyLines(request)),
    ...(hold === null ? [] : [['hold', `${hold.amount_usd} USD, ${hold.state}`]]),
    ...(charge === null ? [] : chargeLines(charge)),
    ...(job === null ? [] : jobLines(job)),
  ]
  return [`${id}  ${outcome}`, ...why, '', linesText(lines), ...tablesOf(page)].join('\n')
}

/** What can be there several times. A part without rows is not printed. */
function tablesOf({
  charge,
  request,
  undelivered_attempts: undelivered,
  job,
}: RequestPageReply): readonly string[] {
  const refunds = charge?.refunds ?? []
  const attempts = request?.attempts ?? []
  const history = job?.history ?? []
  return [
    ...section(
      ['ITEM', 'QUANTITY', 'USD', 'PER', 'AMOUNT USD'],
      charge?.arithmetic?.items.map(itemCells) ?? [],
    ),
    ...section(
      ['REFUND', 'USD', 'NOTE', 'AT'],
      refunds.map(each => [each.id, each.amount_usd, each.note ?? '–', each.created_at]),
    ),
    ...section(
      ['UPSTREAM', 'RESULT'],
      attempts.map(({ provider, reason }) => [provider, reason ?? 'answered']),
    ),
    ...section(
      ['UNDELIVERED', 'STATE', 'USD', 'PROVIDER USD', 'AT'],
      undelivered.map(each => [
        each.provider,
        each.state,
        each.cost_usd ?? '–',
        each.provider_cost_usd ?? '–',
        each.at,
      ]),
    ),
    ...section(
      ['AT', 'STATE', 'WHAT HAPPENED'],
      history.map(({ at, state, detail }) => [at, state, detail ?? '']),
    ),
  ]
}

function replyLines(request: RequestRow): readonly (readonly string[])[] {
  const { first_byte_ms: firstByte, error_code: code, project, refused_by: refusedBy, tags, user } = request
  const named = Object.entries(tags).map(([name, value]) => `${name}=${value}`)
  return [
    ['key', request.key],
    ...(project === null ? [] : [['project', project]]),
    ['created', request.created_at],
    ['route', request.route],
    ['model', request.model ?? '–'],
    ['reply', code === null ? String(request.status) : `${request.status} ${code}`],
    ...(refusedBy === null ? [] : [['refused by', `${refusedBy.limit} of the ${refusedBy.scope}`]]),
    [
      'duration',
      `${request.duration_ms} ms${firstByte === null ? '' : `, first byte after ${firstByte} ms`}`,
    ],
    ...(named.length === 0 ? [] : [['tags', named.join(', ')]]),
    ...(user === null ? [] : [['user', user]]),
  ]
}

function chargeLines(charge: NonNullable<RequestPageReply['charge']>): readonly (readonly string[])[] {
  const { usage, arithmetic, provider_cost_usd: providerCost, shortfall_usd: shortfall } = charge
  const counts = Object.entries(usage).filter(([, count]) => count !== 0 && count !== null)
  return [
    ['charge', `${charge.cost_usd} USD at ${charge.created_at}`],
    ['usage', `${counts.map(([name, count]) => `${name} ${count}`).join(', ')} (${charge.source})`],
    ['served by', `${charge.model} at ${charge.provider}`],
    ...(providerCost === null ? [] : [['provider', `bills ${providerCost} USD`]]),
    ...(shortfall === '0' ? [] : [['shortfall', `${shortfall} USD`]]),
    ['prices', arithmetic === null ? pricesWithoutTariff(charge.pricing) : pricesOf(arithmetic)],
    ...(arithmetic === null
      ? []
      : [['sum', `${arithmetic.sum_usd} USD, rounded up to ${arithmetic.total_usd} USD`]]),
  ]
}

function pricesWithoutTariff(pricing: string): string {
  return pricing === 'free'
    ? 'none: the model was free, or its provider reported no cost'
    : 'the cost of the provider, times the markup of the model'
}

function pricesOf(arithmetic: ArithmeticReply): string {
  const { above_input_tokens: above, service_tier: tier, service_tier_factor: factor } = arithmetic
  return [
    'those at the time of the request',
    ...(above === null ? [] : [`for more than ${above} input tokens`]),
    ...(tier === null ? [] : [`times ${factor ?? '1'} for the service tier ${tier}`]),
    ...(arithmetic.is_at_most ? ['at most the highest price of each image'] : []),
  ].join(', ')
}

function jobLines(job: NonNullable<RequestPageReply['job']>): readonly (readonly string[])[] {
  return [
    ['job', `${job.id}, ${job.state}`],
    ...(job.why === null ? [] : [['why', job.why]]),
    ...(job.next === null ? [] : [['next', job.next]]),
  ]
}

function itemCells({
  item,
  quantity,
  price_usd: price,
  per,
  amount_usd: amount,
}: ItemRow): readonly string[] {
  return [item, String(quantity), price, String(per), amount]
}

function movementText(movement: MovementReply): string {
  const { id, kind, amount_usd: amount, note, account, account_name: name } = movement
  return [
    `${id}  ${kind}`,
    '',
    linesText([
      ['account', `${name ?? '–'} (${account ?? '–'})`],
      ['amount', `${amount} USD`],
      ['note', note ?? '–'],
      ['created', movement.created_at],
    ]),
  ].join('\n')
}

function linesText(lines: readonly (readonly string[])[]): string {
  const width = Math.max(...lines.map(([name = '']) => name.length))
  return lines.map(([name = '', value = '']) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** A table after an empty line; nothing without rows. */
function section(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return rows.length === 0 ? [] : ['', table(head, rows)]
}
