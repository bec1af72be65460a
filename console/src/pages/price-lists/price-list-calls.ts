/** The calls of the admin API for price lists. */
import { answer, api } from '../../api/client.ts'
import { editFrom, type ReadRow } from '../../api/edit-conflict.ts'
import type { components } from '../../api/schema.d.ts'
import { rowsTexts } from '../../parts/texts.ts'

export type PriceListRow = components['schemas']['PriceListRow']
export type PriceListPreview = components['schemas']['PriceListPreview']
export type PriceChange = components['schemas']['PriceChange']

/** One list with the revision that it is from. Undefined without a row of this id. */
export async function readList(id: string): Promise<ReadRow<PriceListRow>> {
  const { data, revision } = await answer(api.GET('/admin/api/price-lists'))
  return { row: data.find(row => row.id === id), revision }
}

/** The prices that a row would change. */
export async function previewList(row: PriceListRow, read: ReadRow<PriceListRow>): Promise<PriceListPreview> {
  return editList(row, read, async revision => {
    const query = { dry_run: 'true', revision } as const
    const params = { path: { list: row.id }, query }
    return (await answer(api.PUT('/admin/api/price-lists/{list}', { params, body: row }))) as PriceListPreview
  })
}

export async function storeList(row: PriceListRow, read: ReadRow<PriceListRow>): Promise<void> {
  await editList(row, read, async revision => {
    const params = { path: { list: row.id }, query: { revision } }
    await answer(api.PUT('/admin/api/price-lists/{list}', { params, body: row }))
  })
}

function editList<Result>(
  { id }: PriceListRow,
  read: ReadRow<PriceListRow>,
  edit: (revision: number) => Promise<Result>,
): Promise<Result> {
  return editFrom(read, { reread: () => readList(id), edit, changed: rowsTexts.changed(id) })
}
