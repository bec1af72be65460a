/** Edits of catalog rows by several people at once. */
import { ApiError } from './client.ts'

/** A row as it was read, with the revision of the catalog that it is from. Undefined for a new row. */
export type ReadRow<Row> = { readonly row: Row | undefined; readonly revision: number }

/**
 * Makes an edit from the revision at which its row was read. If only other rows were changed since then, it is made from
 * the current revision. Rejects with `changed` as the message if somebody changed this row.
 */
export async function editFrom<Row, Result>(
  read: ReadRow<Row>,
  {
    reread,
    edit,
    changed,
  }: {
    readonly reread: () => Promise<ReadRow<Row>>
    readonly edit: (revision: number) => Promise<Result>
    readonly changed: string
  },
): Promise<Result> {
  try {
    return await edit(read.revision)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'catalog_changed') throw error
    const now = await reread()
    if (JSON.stringify(now.row) === JSON.stringify(read.row)) return edit(now.revision)
    throw new ApiError(error.status, changed, { code: error.code })
  }
}
