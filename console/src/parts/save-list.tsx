/** Saves what the filters of a list select as CSV, not only the page that is shown. */
import { useState } from 'preact/hooks'
import { LINES_A_PAGE, readEveryPage, type ListPage } from '../api/every-page.ts'
import { partsTexts } from './texts.ts'
import { csvOfRows, download, type CsvColumn } from './csv.ts'
import { messageOf } from './form.tsx'
import { count } from './format.ts'
import { Icon } from './icon.tsx'
import { toast } from './toast.tsx'

/** A file of more lines is better made by a script, with the same address of the admin API. */
const ROWS_MAX = 10_000

export function SaveListButton<Row>({
  name,
  columns,
  read,
}: {
  /** Of the file, without `.csv`. */
  readonly name: string
  readonly columns: readonly CsvColumn<Row>[]
  readonly read: (page: { readonly cursor?: string; readonly limit: number }) => Promise<ListPage<Row>>
}) {
  const [isBusy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    try {
      const pages = (cursor: { readonly cursor?: string }) => read({ ...cursor, limit: LINES_A_PAGE })
      const { rows, isCut } = await readEveryPage(pages, { rowsMax: ROWS_MAX })
      download(`${name}.csv`, csvOfRows(rows, columns))
      if (isCut) toast(partsTexts.csvCut(count(ROWS_MAX)), 'warn')
    } catch (error) {
      toast(messageOf(error as Error), 'bad')
    }
    setBusy(false)
  }
  return (
    <button type="button" class="button" disabled={isBusy} aria-busy={isBusy} onClick={() => void save()}>
      <Icon name="download" />
      {partsTexts.saveCsv}
    </button>
  )
}
