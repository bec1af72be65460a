import type { Statement } from 'bun:sqlite'

/** The columns of a charge that a walk needs. */
type ChainedRow = { readonly id: bigint; readonly previous_id: bigint | null }

/**
 * Rows that are read in one turn of the event loop: at most a few milliseconds, in which requests wait. A walk over
 * many charges takes the more turns.
 */
export const ROWS_A_TURN = 100

/** Gives each walk its own turns of the event loop, so that several walks delay requests no longer than one. */
export class ReadTurns {
  #last: Promise<void> = Promise.resolve()

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise(resolve => setImmediate(resolve)))
    return this.#last
  }
}

/**
 * The charges of an account from the latest one back to the first one, which are linked by `previous_id`. It pauses
 * after each turn, because there can be many.
 */
export async function* walkCharges<Row extends ChainedRow>(
  select: Statement<Row, [bigint]>,
  {
    accountId,
    first,
    latest,
  }: { readonly accountId: number; readonly first: bigint; readonly latest: bigint | null },
  turns: ReadTurns,
): AsyncGenerator<Row> {
  let read = 0
  for (let next = latest; next !== null && next >= first;) {
    const row = select.get(next)
    if (row === null) throw new Error(`Charge ${next} of account ${accountId} is missing.`)
    yield row
    next = row.previous_id
    read += 1
    if (read % ROWS_A_TURN === 0) await turns.next()
  }
}
