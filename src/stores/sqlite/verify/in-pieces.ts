import type { Statement } from 'bun:sqlite'

/**
 * Reads the rows of a table in pieces of at most `rowsMax`, in the order of their row ids. `select` takes the row id to
 * continue after, and `rowsMax`. Each piece is read when it is asked for, so a check compares it with other rows of the
 * same turn of the event loop.
 */
export function* inPieces<Row>(
  select: Statement<Row, [bigint, number]>,
  rowsMax: number,
  rowIdOf: (row: Row) => bigint,
): Generator<readonly Row[]> {
  // SQLite's row ids begin at 1. An edited file may have a row 0.
  let after = -1n
  for (;;) {
    const rows = select.all(after, rowsMax)
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsMax) return
    after = rowIdOf(last)
  }
}
