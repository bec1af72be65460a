import { addExactUsd } from '../../domain/pricing/exact-usd.ts'
import { problemAt, readAmount, readCount, readDay, type Bill, type BillLine, type Written } from './bill.ts'
import type { CsvRecord } from './csv-file.ts'
import { memberOf, numberOf, stringMember, type JsonObject } from './json-file.ts'

/**
 * Reads the answer of `/api/v1/activity`: a row for each day and endpoint. What a call with an own key cost at the
 * other provider (`byok_usage_inference`) is part of what the call cost.
 */
export function openRouterActivity(rows: readonly JsonObject[]): Bill {
  const lines = rows.map(row =>
    activityOf(name => {
      const value = memberOf(row, name)
      return value === undefined ? { text: '', line: row.line } : numberOrText(row, name)
    }),
  )
  return { lines, days: [], notes: [] }
}

/** Reads the same rows as CSV. */
export function* openRouterActivityCsv(records: Iterable<CsvRecord>): Generator<BillLine> {
  for (const { cell } of records) yield activityOf(cell)
}

/** Reads the CSV file of the Activity page: a row for each generation. */
export function* openRouterGenerationsCsv(records: Iterable<CsvRecord>): Generator<BillLine> {
  for (const { cell } of records) {
    yield {
      day: readDay('created_at', cell('created_at')),
      models: namesIn(cell, ['model_permaslug']),
      item: 'generation',
      amount: sumOf(cell, ['cost_total', 'byok_usage_inference']),
      requests: 1,
      inputTokens: readCount('tokens_prompt', cell('tokens_prompt')),
      outputTokens: readCount('tokens_completion', cell('tokens_completion')),
    }
  }
}

type Cell = (name: string) => Written

function activityOf(cell: Cell): BillLine {
  return {
    day: readDay('date', cell('date')),
    models: namesIn(cell, ['model', 'model_permaslug']),
    item: 'activity',
    amount: sumOf(cell, ['usage', 'byok_usage_inference']),
    requests: readCount('requests', cell('requests')),
    inputTokens: readCount('prompt_tokens', cell('prompt_tokens')),
    outputTokens: readCount('completion_tokens', cell('completion_tokens')),
  }
}

function namesIn(cell: Cell, columns: readonly string[]): readonly string[] {
  return columns.map(column => cell(column).text).filter(name => name !== '')
}

/** The first amount must be there. */
function sumOf(cell: Cell, [first, second]: readonly [string, string]) {
  const amount = readAmount(first, cell(first))
  const added = cell(second)
  return added.text === '' ? amount : addExactUsd(amount, readAmount(second, added))
}

function numberOrText(row: JsonObject, name: string): Written {
  const text = stringMember(row, name)
  if (text !== undefined) return { text, line: row.line }
  const value = memberOf(row, name)
  if (value?.kind === 'number') return numberOf(row, name)
  throw problemAt(value?.line ?? row.line, `"${name}" must be a number or text.`)
}
