/** Reads a list of the gateway to its end, for what is sorted, searched or saved in the browser. */

export type ListPage<Row> = { readonly data: readonly Row[]; readonly next: string | null }

/** The longest page that the gateway sends. */
export const LINES_A_PAGE = 500

export type WholeList<Row> = {
  readonly rows: readonly Row[]
  /** Whether the list has more rows than were read. */
  readonly isCut: boolean
}

/** Reads page after page until the list ends or has `rowsMax` rows. `onRows` is told how many have arrived. */
export async function readEveryPage<Row>(
  read: (cursor: { readonly cursor?: string }) => Promise<ListPage<Row>>,
  {
    rowsMax,
    onRows,
    signal,
  }: {
    readonly rowsMax: number
    readonly onRows?: (count: number) => void
    readonly signal?: AbortSignal
  },
): Promise<WholeList<Row>> {
  const rows: Row[] = []
  let next: string | null = null
  do {
    const page: ListPage<Row> = await read(next === null ? {} : { cursor: next })
    signal?.throwIfAborted()
    rows.push(...page.data)
    next = page.next
    onRows?.(rows.length)
  } while (next !== null && rows.length < rowsMax)
  return { rows: rows.slice(0, rowsMax), isCut: next !== null || rows.length > rowsMax }
}
