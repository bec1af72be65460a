/** Files that are made in the browser. */

/** The lines of a CSV file after RFC 4180. A text that a spreadsheet would run as a formula gets a quote before it. */
export function csvText(lines: readonly (readonly string[])[]): string {
  return `${lines.map(line => line.map(csvCell).join(',')).join('\r\n')}\r\n`
}

const NUMBER = /^-?\d+(\.\d+)?$/

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Saves text as a file. */
export function download(name: string, text: string, type = 'text/csv'): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** A column of a list that is saved as CSV. */
export type CsvColumn<Row> = readonly [name: string, value: (row: Row) => string | number | boolean | null]

export function csvOfRows<Row>(rows: readonly Row[], columns: readonly CsvColumn<Row>[]): string {
  return csvText([
    columns.map(([name]) => name),
    ...rows.map(row => columns.map(([, value]) => String(value(row) ?? ''))),
  ])
}
