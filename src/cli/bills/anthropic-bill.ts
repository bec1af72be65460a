import { problemAt, readAmount, readDay, type Bill, type BillLine } from './bill.ts'
import type { CsvRecord } from './csv-file.ts'
import { memberOf, numberOf, objectsOf, stringMember, type JsonObject } from './json-file.ts'

const CENT_DECIMALS = 2
const NOT_COUNTED = { requests: null, inputTokens: null, outputTokens: null } as const

/** Reads a page of `/v1/organizations/cost_report`: days, each with results whose amounts are in cents. */
export function anthropicCostReport(buckets: readonly JsonObject[]): Bill {
  const days = buckets.map(bucket => ({ day: dayOfBucket(bucket), bucket }))
  const lines = days.flatMap(({ day, bucket }) =>
    objectsOf(bucket, 'results').map(result => resultOf(result, day)),
  )
  const isUngrouped = lines.some(({ item }) => item === UNGROUPED)
  return {
    lines,
    days: days.map(({ day }) => day),
    notes: isUngrouped ? ['Fetch the cost report with group_by[]=description.'] : [],
  }
}

function dayOfBucket(bucket: JsonObject): string {
  return readDay('starting_at', { text: stringMember(bucket, 'starting_at') ?? '', line: bucket.line })
}

const UNGROUPED = 'all costs'

function resultOf(result: JsonObject, day: string): BillLine {
  if (memberOf(result, 'amount') === undefined && memberOf(result, 'uncached_input_tokens') !== undefined)
    throw problemAt(
      result.line,
      'this is a usage report, which has no amounts. Fetch the cost_report instead.',
    )
  const currency = stringMember(result, 'currency') ?? 'USD'
  if (currency !== 'USD')
    throw problemAt(result.line, `"currency" is "${currency}", but only US dollars can be compared.`)
  const model = stringMember(result, 'model')
  return {
    day,
    // Searches and code execution have no model.
    models: model === undefined ? [] : [model],
    item: stringMember(result, 'description') ?? stringMember(result, 'cost_type') ?? UNGROUPED,
    amount: readAmount('amount', numberOf(result, 'amount'), CENT_DECIMALS),
    ...NOT_COUNTED,
  }
}

/** Reads the CSV file of the Cost page of the console. Its models have their names for people: `Claude Haiku 4.5`. */
export function* anthropicCsv(records: Iterable<CsvRecord>): Generator<BillLine> {
  for (const { cell } of records) {
    const model = cell('model').text
    yield {
      day: readDay('usage_date_utc', cell('usage_date_utc')),
      models: model === '' ? [] : [model],
      item: cell('cost_type').text || cell('usage_type').text || 'cost',
      amount: readAmount('cost_usd', cell('cost_usd')),
      ...NOT_COUNTED,
    }
  }
}
