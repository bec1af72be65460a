import { dayOfMs, problemAt, readAmount, readCount, type Bill, type BillLine } from './bill.ts'
import { memberOf, numberOf, objectsOf, stringMember, type JsonObject } from './json-file.ts'

const SECONDS_A_DAY = 86_400

/**
 * Reads a page of `/v1/organization/costs` or `/v1/organization/usage/completions`: buckets of a time, each with
 * results. A page of usage has tokens and requests, and no amounts.
 */
export function openAiPage(buckets: readonly JsonObject[]): Bill {
  const days = buckets.map(bucket => ({ day: dayOfBucket(bucket), bucket }))
  const lines = days.flatMap(({ day, bucket }) =>
    objectsOf(bucket, 'results').map(result => lineOf(result, day)),
  )
  const isUngrouped = lines.some(({ models }) => models.length === 0)
  const notes = isUngrouped
    ? ['Some lines name no model. Fetch costs with group_by=line_item, and usage with group_by=model.']
    : []
  return { lines, days: days.map(({ day }) => day), notes }
}

/** Throws a `BillProblem` for a bucket that is not within one day in UTC. */
function dayOfBucket(bucket: JsonObject): string {
  const start = secondsOf(bucket, 'start_time')
  const end = memberOf(bucket, 'end_time') === undefined ? start + 1 : secondsOf(bucket, 'end_time')
  if (Math.floor(start / SECONDS_A_DAY) === Math.floor((end - 1) / SECONDS_A_DAY))
    return dayOfMs(start * 1000)
  throw problemAt(bucket.line, 'the bucket is not within one day in UTC. Fetch it with bucket_width=1d.')
}

function secondsOf(bucket: JsonObject, name: string): number {
  const written = numberOf(bucket, name)
  const seconds = readCount(name, written)
  // The last second that JavaScript can write as a date.
  if (seconds !== null && seconds <= 8.64e12) return seconds
  throw problemAt(written.line, `"${name}" must be a Unix time in seconds.`)
}

function lineOf(result: JsonObject, day: string): BillLine {
  const object = stringMember(result, 'object')
  if (object === 'organization.costs.result') return costOf(result, day)
  if (object === 'organization.usage.completions.result') return usageOf(result, day)
  const found = object === undefined ? 'it has no "object"' : `its "object" is "${object}"`
  throw problemAt(result.line, `the result is neither of costs nor of completions usage: ${found}.`)
}

/** A line item is a model and a kind of tokens, such as `gpt-4o-2024-08-06, input`, or a product without a model. */
function costOf(result: JsonObject, day: string): BillLine {
  const item = stringMember(result, 'line_item')
  const [model = ''] = item?.split(', ', 1) ?? []
  const amount = memberOf(result, 'amount')
  if (amount?.kind !== 'object') throw problemAt(result.line, '"amount" must be an object with a "value".')
  const currency = stringMember(amount, 'currency') ?? 'usd'
  if (currency.toLowerCase() !== 'usd')
    throw problemAt(amount.line, `"currency" is "${currency}", but only US dollars can be compared.`)
  return {
    day,
    models: model === '' ? [] : [model],
    item: item ?? 'all line items',
    amount: readAmount('amount.value', numberOf(amount, 'value')),
    requests: null,
    inputTokens: null,
    outputTokens: null,
  }
}

function usageOf(result: JsonObject, day: string): BillLine {
  const model = stringMember(result, 'model')
  const countOf = (name: string) => readCount(name, numberOf(result, name))
  return {
    day,
    models: model === undefined ? [] : [model],
    item: 'completions',
    amount: null,
    requests: countOf('num_model_requests'),
    inputTokens: countOf('input_tokens'),
    outputTokens: countOf('output_tokens'),
  }
}
