import { problemAt, type Written } from './bill.ts'

/** A record of a CSV file. */
export type CsvRecord = {
  readonly line: number
  /** The cell of a column. Empty if the file does not have the column. */
  readonly cell: (column: string) => Written
}

export type CsvFile = {
  /** The names of the columns in lower case. */
  readonly columns: readonly string[]
  readonly records: Iterable<CsvRecord>
}

/** Reads a CSV file as in RFC 4180, with a line of column names. Records are read when they are needed. */
export function readCsv(text: string): CsvFile {
  const rows = rowsOf(text)
  const first = rows.next()
  const columns = (first.done === true ? [] : first.value.cells).map(name => name.trim().toLowerCase())
  return { columns, records: recordsOf(columns, rows) }
}

type Row = { readonly line: number; readonly cells: readonly string[] }

function* recordsOf(columns: readonly string[], rows: Iterable<Row>): Generator<CsvRecord> {
  for (const { line, cells } of rows) {
    if (cells.length === 1 && cells[0]?.trim() === '') continue
    if (cells.length !== columns.length)
      throw problemAt(
        line,
        `it has ${cells.length} values, but the first line names ${columns.length} columns.`,
      )
    yield { line, cell: column => ({ line, text: cells[columns.indexOf(column)]?.trim() ?? '' }) }
  }
}

/** Each row with the line on which it begins: a quoted cell may contain line ends. */
function* rowsOf(text: string): Generator<Row> {
  const pattern = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n|\n|\r|$)/y
  let [line, first] = [1, 1]
  let cells: string[] = []
  while (pattern.lastIndex < text.length || cells.length > 0) {
    const [all = '', cell = '', end = ''] = pattern.exec(text) ?? []
    if (cell.startsWith('"') && (cell.length < 2 || !cell.endsWith('"') || all === ''))
      throw problemAt(line, 'a quote is not closed.')
    cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    line += all.match(/\r\n|\n|\r/g)?.length ?? 0
    if (end === ',') continue
    yield { line: first, cells }
    cells = []
    first = line
  }
}
