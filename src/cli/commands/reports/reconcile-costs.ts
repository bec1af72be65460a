import {
  addExactUsd,
  formatExactUsd,
  parseExactUsd,
  ZERO_EXACT_USD,
  type ExactUsd,
} from '../../../domain/pricing/exact-usd.ts'
import type { Ask } from '../../ask.ts'
import { BillProblem, dayOfMs, type Bill, type BillLine } from '../../bills/bill.ts'
import {
  compareCosts,
  type ChargedDay,
  type Compared,
  type ComparedDay,
  type ServedRow,
} from '../../bills/compare-costs.ts'
import { readBill } from '../../bills/read-bill.ts'
import { CliError, table, type Outcome } from '../../outcome.ts'
import { nameOf, readInput } from '../catalog/catalog.ts'
import { lossesSince } from './jobs.ts'
import { usagePages, type ChargeRow } from './usage.ts'

const MS_A_DAY = 86_400_000
/** The longest time range that the admin API accepts. */
const RANGE_DAYS_MAX = 92
/** The lines are in memory. An export of single requests can be longer. */
const LINES_MAX = 1_000_000

/** The days of a comparison, in UTC. The first one is included, the end is not. */
type Days = { readonly from: string; readonly to: string }

/**
 * Compares the charges of a provider with its bill, for each model and day. Reads the charges page by page, and keeps
 * only their sums. Throws a `CliError` for a file that is not a bill, and for a provider that the catalog does not
 * have.
 */
export async function reconcileCosts(
  ask: Ask,
  asked: {
    readonly provider: string
    readonly files: readonly string[]
    readonly from?: string
    readonly to?: string
  },
): Promise<Outcome> {
  const { provider } = asked
  const bills = asked.files.map(readBillFile)
  const lines = bills.flatMap(({ lines: some }) => some)
  const days = daysOf(bills, asked)
  const served = await servedBy(ask, provider)
  const charged = await chargedBy(ask, provider, days)
  const isAsked = ({ day }: BillLine) => day >= days.from && day < days.to
  const { days: compared, totals } = compareCosts(lines.filter(isAsked), charged, served)
  const notes = [...new Set(bills.flatMap(bill => bill.notes))]
  const value = {
    provider,
    ...days,
    data: compared.map(dayJson),
    totals: sumsJson(totals),
    notes,
  }
  return {
    value,
    text: comparisonText(compared, totals, value),
    ...(notes.length === 0 ? {} : { note: notes.join('\n') }),
  }
}

function readBillFile(file: string): Bill & { readonly lines: readonly BillLine[] } {
  const content = readInput(file)
  try {
    const bill = readBill(content)
    const lines: BillLine[] = []
    // Here, because a file is read when its lines are needed.
    for (const line of bill.lines) {
      if (lines.length === LINES_MAX)
        throw new BillProblem(`has more than ${LINES_MAX} lines. Split it by time, and compare each part.`)
      lines.push(line)
    }
    return { ...bill, lines }
  } catch (error) {
    if (!(error instanceof BillProblem)) throw error
    throw new CliError(`${nameOf(file)} ${error.message}`, { exitCode: 2, code: 'invalid_bill' })
  }
}

/** The days that were asked for; without them, those of the bill. */
function daysOf(
  bills: readonly Bill[],
  { from, to }: { readonly from?: string; readonly to?: string },
): Days {
  let [first, last] = ['', '']
  for (const bill of bills)
    for (const day of [...bill.days, ...Array.from(bill.lines, line => line.day)]) {
      if (first === '' || day < first) first = day
      if (day > last) last = day
    }
  const days = { from: from ?? first, to: to ?? (last === '' ? '' : dayAfter(last, 1)) }
  if (days.from === '' || days.to === '')
    throw new CliError('The bill has no days. Name them with --from and --to.', {
      exitCode: 2,
      code: 'invalid_bill',
    })
  if (days.from < days.to) return days
  throw new CliError(`There is no day from ${days.from} on and before ${days.to}.`, {
    exitCode: 2,
    code: 'invalid_argument',
  })
}

function dayAfter(day: string, days: number): string {
  return dayOfMs(Date.parse(`${day}T00:00:00Z`) + days * MS_A_DAY)
}

/** The rows of the catalog that a provider serves, with its names for them. Throws for an unknown provider. */
async function servedBy(ask: Ask, provider: string): Promise<readonly ServedRow[]> {
  type Page<Row> = { readonly data: readonly Row[] }
  type Upstream = { readonly provider: string; readonly model: string }
  const providers = await ask<Page<{ readonly id: string }>>({ method: 'GET', path: 'providers' })
  if (!providers.data.some(({ id }) => id === provider)) {
    const ids = providers.data.map(({ id }) => id).join(', ')
    throw new CliError(`The catalog has no provider "${provider}". It has: ${ids || 'none'}.`, {
      exitCode: 1,
      code: 'not_found',
    })
  }
  const models = await ask<Page<{ readonly id: string; readonly upstreams: readonly Upstream[] }>>({
    method: 'GET',
    path: 'models',
  })
  return models.data.flatMap(({ id, upstreams }) => {
    const upstreamModels = upstreams
      .filter(upstream => upstream.provider === provider)
      .map(({ model }) => model)
    return upstreamModels.length === 0 ? [] : [{ row: id, upstreamModels }]
  })
}

/**
 * The sums of the charges for each row and day, and of the costs of work that no customer paid for: the provider bills
 * it too. A refund is between the operator and the customer.
 */
async function chargedBy(ask: Ask, provider: string, days: Days): Promise<readonly ChargedDay[]> {
  const sums = new Map<string, ChargedDay>()
  const add = (at: string, row: string, added: Partial<ChargedDay>) => {
    const day = at.slice(0, 10)
    const key = `${day} ${row}`
    sums.set(key, withAdded(sums.get(key) ?? { day, row, ...NOTHING_CHARGED }, added))
  }
  for (let start = days.from; start < days.to; start = dayAfter(start, RANGE_DAYS_MAX)) {
    const end = dayAfter(start, RANGE_DAYS_MAX)
    const range = { from: `${start}T00:00:00Z`, to: `${end < days.to ? end : days.to}T00:00:00Z` }
    for await (const rows of usagePages(ask, range))
      for (const row of rows)
        if (row.object === 'usage' && row.provider === provider) add(row.created_at, row.model, chargeOf(row))
  }
  for await (const { at, reason, model, provider_cost_usd: cost, ...loss } of lossesSince(ask, days.from))
    // A compensated attempt is also a charge.
    if (loss.provider === provider && at < days.to && reason !== 'compensated' && cost !== null)
      add(at, model, { unpaid: 1, providerCost: exactUsd(cost) })
  return [...sums.values()]
}

const NOTHING_CHARGED = {
  charges: 0,
  unpaid: 0,
  charged: ZERO_EXACT_USD,
  providerCost: ZERO_EXACT_USD,
  withoutCost: 0,
} as const

function chargeOf({ cost_usd: charged, provider_cost_usd: cost }: ChargeRow): Partial<ChargedDay> {
  const common = { charges: 1, charged: exactUsd(charged) }
  return cost === null ? { ...common, withoutCost: 1 } : { ...common, providerCost: exactUsd(cost) }
}

function withAdded(before: ChargedDay, added: Partial<ChargedDay>): ChargedDay {
  return {
    ...before,
    charges: before.charges + (added.charges ?? 0),
    unpaid: before.unpaid + (added.unpaid ?? 0),
    charged: addExactUsd(before.charged, added.charged ?? ZERO_EXACT_USD),
    providerCost: addExactUsd(before.providerCost, added.providerCost ?? ZERO_EXACT_USD),
    withoutCost: before.withoutCost + (added.withoutCost ?? 0),
  }
}

function exactUsd(text: string): ExactUsd {
  return parseExactUsd(text) ?? ZERO_EXACT_USD
}

function dayJson({ day, model, rows, side, ...sums }: ComparedDay): object {
  return { day, model, catalog_models: rows, side, ...sumsJson(sums) }
}

function sumsJson(sums: Compared): object {
  return {
    difference_usd: amountText(sums.difference),
    compared_with: sums.comparedWith,
    bill_usd: amountText(sums.billed),
    provider_cost_usd: formatExactUsd(sums.providerCost),
    charges_without_provider_cost: sums.withoutCost,
    charged_usd: formatExactUsd(sums.charged),
    charges: sums.charges,
    unpaid: sums.unpaid,
    bill_requests: sums.requests,
    bill_input_tokens: sums.inputTokens,
    bill_output_tokens: sums.outputTokens,
  }
}

function amountText(amount: ExactUsd | null): string | null {
  return amount === null ? null : formatExactUsd(amount)
}

const HEAD = ['DIFFERENCE', 'DAY', 'MODEL', 'BILL', 'COST', 'NO COST', 'CHARGED', 'CHARGES', 'ON THE BILL']
const NONE = '–'
const sideText = { both: '', bill: ' (only on the bill)', charges: ' (not on the bill)' } as const

function comparisonText(
  compared: readonly ComparedDay[],
  totals: Compared,
  { provider, from, to }: Days & { readonly provider: string },
): string {
  const range = `${provider}, from ${from} on and before ${to}`
  if (compared.length === 0) return `No charges and no bill of ${range}.`
  const rows = compared.map(line => rowOf(line, line.day, line.model + sideText[line.side]))
  return [
    `Bill and charges of ${range}, in USD.`,
    '',
    table(HEAD, [...rows, rowOf(totals, 'total', '')]),
  ].join('\n')
}

function rowOf(sums: Compared, day: string, model: string): readonly string[] {
  const { difference, comparedWith, billed, charges, unpaid, withoutCost } = sums
  const isOfCharges = difference !== null && comparedWith === 'charges'
  return [
    (amountText(difference) ?? NONE) + (isOfCharges ? ' (of charges)' : ''),
    day,
    model,
    amountText(billed) ?? NONE,
    withoutCost === charges + unpaid ? NONE : formatExactUsd(sums.providerCost),
    String(withoutCost),
    formatExactUsd(sums.charged),
    unpaid === 0 ? String(charges) : `${charges} + ${unpaid} unpaid`,
    countsText(sums),
  ]
}

function countsText({ requests, inputTokens, outputTokens }: Compared): string {
  const parts = [
    ...(requests === null ? [] : [`${requests} requests`]),
    ...(inputTokens === null && outputTokens === null
      ? []
      : [`${inputTokens ?? 0} + ${outputTokens ?? 0} tokens`]),
  ]
  return parts.length === 0 ? NONE : parts.join(', ')
}
