/** The calls of the admin API for models. */
import { answer, api } from '../../api/client.ts'
import { editFrom, type ReadRow } from '../../api/edit-conflict.ts'
import type { components } from '../../api/schema.d.ts'
import type { Row } from '../../parts/row-form.tsx'
import { rowsTexts } from '../../parts/texts.ts'

export type ModelPreview = components['schemas']['ModelPreview']
type NewModelRow = components['schemas']['NewModelRow']

export const readModels = () => answer(api.GET('/admin/api/models'))
export const readProviders = () => answer(api.GET('/admin/api/providers'))

/** One model with what the list says about it. Undefined without a row of this id. */
export async function readModel(
  id: string,
): Promise<ReadRow<Row> & { readonly problem: string | undefined }> {
  const { data, uncallable, revision } = await readModels()
  return {
    row: data.find(row => row.id === id),
    revision,
    problem: uncallable.find(model => model.id === id)?.reason,
  }
}

/** What a row would change, and what a request costs then. */
export function previewModel(id: string, row: Row, read: ReadRow<Row>): Promise<ModelPreview> {
  return editModel(id, read, async revision => {
    const query = { dry_run: 'true', revision } as const
    const params = { path: { model: id }, query }
    return (await answer(
      api.PUT('/admin/api/models/{model}', { params, body: row as NewModelRow }),
    )) as ModelPreview
  })
}

export async function storeModel(id: string, row: Row, read: ReadRow<Row>): Promise<void> {
  await editModel(id, read, async revision => {
    const params = { path: { model: id }, query: { revision } }
    await answer(api.PUT('/admin/api/models/{model}', { params, body: row as NewModelRow }))
  })
}

function editModel<Result>(
  id: string,
  read: ReadRow<Row>,
  edit: (revision: number) => Promise<Result>,
): Promise<Result> {
  return editFrom(read, { reread: () => readModel(id), edit, changed: rowsTexts.changed(id) })
}
