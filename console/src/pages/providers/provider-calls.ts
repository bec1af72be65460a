/** The calls of the admin API for providers. */
import { answer, api } from '../../api/client.ts'
import { editFrom, type ReadRow } from '../../api/edit-conflict.ts'
import type { components } from '../../api/schema.d.ts'
import type { Row } from '../../parts/row-form.tsx'
import { rowsTexts } from '../../parts/texts.ts'

export type ProviderState = components['schemas']['ProviderState']
export type ProviderPreview = components['schemas']['ProviderPreview']
type NewProviderRow = components['schemas']['NewProviderRow']

export const readProviders = () => answer(api.GET('/admin/api/providers'))
export const readProviderStates = () => answer(api.GET('/admin/api/provider-states'))

/** The row, and how the provider is. The row is undefined if there is none of this id. */
export async function readProvider(
  id: string,
): Promise<ReadRow<Row> & { readonly state: ProviderState | undefined }> {
  const [{ data, revision }, states] = await Promise.all([readProviders(), readProviderStates()])
  return {
    row: data.find(row => row.id === id),
    revision,
    state: states.data.find(({ provider }) => provider === id),
  }
}

export async function storeProvider(id: string, row: Row, read: ReadRow<Row>): Promise<void> {
  await putProvider(id, row, { read, isPreview: false })
}

/** What a row would change. */
export async function previewProvider(id: string, row: Row, read: ReadRow<Row>): Promise<ProviderPreview> {
  return (await putProvider(id, row, { read, isPreview: true })) as ProviderPreview
}

function putProvider(
  id: string,
  row: Row,
  { read, isPreview }: { readonly read: ReadRow<Row>; readonly isPreview: boolean },
) {
  return editFrom(read, {
    reread: () => readProvider(id),
    changed: rowsTexts.changed(id),
    edit: revision => {
      const query = { revision, ...(isPreview && { dry_run: 'true' as const }) }
      const params = { path: { provider: id }, query }
      return answer(api.PUT('/admin/api/providers/{provider}', { params, body: row as NewProviderRow }))
    },
  })
}

/** Whether the provider responds and accepts its key. It costs nothing. */
export function testProvider(id: string) {
  return answer(api.POST('/admin/api/providers/{provider}/test', { params: { path: { provider: id } } }))
}
