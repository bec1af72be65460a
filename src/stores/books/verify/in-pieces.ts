import { all, type StepRunner } from '../steps.ts'

/**
 * Reads the rows of a table in pieces of at most `rowsMax`, in the order of their row ids. The values of `select` are
 * the row id to continue after, and `rowsMax`. What a piece is compared with is in its rows, so that it is of the same
 * moment.
 */
export async function* inPieces<Row>(
  read: StepRunner['read'],
  { select, rowsMax, rowIdOf }: Pieces<Row>,
): AsyncGenerator<readonly Row[]> {
  // Row ids begin at 1. An edited file may have a row 0.
  let after = -1n
  for (;;) {
    const rows = await read(() => all<Row>(select, after, rowsMax))
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsMax) return
    after = rowIdOf(last)
  }
}

type Pieces<Row> = {
  readonly select: string
  readonly rowsMax: number
  readonly rowIdOf: (row: Row) => bigint
}
