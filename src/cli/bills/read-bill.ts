import { anthropicCostReport, anthropicCsv } from './anthropic-bill.ts'
import { BillProblem, type Bill } from './bill.ts'
import { readCsv } from './csv-file.ts'
import { memberOf, objectsOf, readJson, type JsonObject } from './json-file.ts'
import { openAiPage } from './openai-bill.ts'
import { openRouterActivity, openRouterActivityCsv, openRouterGenerationsCsv } from './openrouter-bill.ts'

const BYTE_ORDER_MARK = '\uFEFF'

/** The files that can be read, for the message about a file that cannot. */
const FORMATS = `It must be one of these:
- OpenAI: a page of /v1/organization/costs with group_by=line_item, or of /v1/organization/usage/completions with group_by=model
- Anthropic: a page of /v1/organizations/cost_report with group_by[]=description, or the CSV file of the Cost page
- OpenRouter: the answer of /api/v1/activity, or the CSV file of the Activity page`

/** Reads a provider's bill. Its format shows from its content. Throws a `BillProblem` for any other file. */
export function readBill(content: string): Bill {
  const text = content.startsWith(BYTE_ORDER_MARK) ? content.slice(1) : content
  return /^\s*[{[]/.test(text) ? readJsonBill(text) : readCsvBill(text)
}

function readJsonBill(text: string): Bill {
  const document = readJson(text)
  if (document.kind !== 'object' || memberOf(document, 'data')?.kind !== 'list')
    throw unknownFormat('has no "data" list')
  const page = { document, rows: objectsOf(document, 'data') }
  const [first] = page.rows
  if (first === undefined) return { lines: [], days: [], notes: notesOf(document) }
  const bill = pageReaderOf(first)(page.rows)
  return { ...bill, notes: [...bill.notes, ...notesOf(document)] }
}

type PageReader = (rows: readonly JsonObject[]) => Bill

/** The format shows from the first row of the page. */
function pageReaderOf(row: JsonObject): PageReader {
  if (row.members.has('start_time')) return openAiPage
  if (row.members.has('starting_at')) return anthropicCostReport
  if (row.members.has('date') && row.members.has('usage')) return openRouterActivity
  const names = [...row.members.keys()].slice(0, 10)
  throw unknownFormat(`has rows with ${names.join(', ')}`)
}

function notesOf(page: JsonObject): readonly string[] {
  const more = memberOf(page, 'has_more')
  if (more?.kind !== 'word' || more.text !== 'true') return []
  return ['A page says that more pages follow ("has_more"). Name the files of all pages in one command.']
}

/** Each CSV format by the columns that it must have. */
const csvReaders = [
  { columns: ['usage_date_utc', 'model', 'cost_usd'], read: anthropicCsv },
  { columns: ['created_at', 'model_permaslug', 'cost_total'], read: openRouterGenerationsCsv },
  { columns: ['date', 'model', 'usage'], read: openRouterActivityCsv },
] as const

function readCsvBill(text: string): Bill {
  const file = readCsv(text)
  const reader = csvReaders.find(({ columns }) => columns.every(column => file.columns.includes(column)))
  if (reader === undefined) throw unknownFormat(`has the columns ${file.columns.slice(0, 20).join(', ')}`)
  return { lines: reader.read(file.records), days: [], notes: [] }
}

function unknownFormat(found: string): BillProblem {
  return new BillProblem(`is not a bill that this command can read: it ${found}. ${FORMATS}`)
}
