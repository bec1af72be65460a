import type { SQL } from 'bun'
import type { Ask, StepRunner, Step, StepLock } from '../../books/steps.ts'
import type { Batches } from './batches.ts'
import { meaningOf } from '../database/database-errors.ts'
import type { Reads } from '../database/reads.ts'
import { tell } from './lane-writer.ts'
import type { StepWrites } from './step-writes.ts'
import { LockedBooks } from '../ledger/locked-books.ts'
import { fromDatabase, numberedText, toDatabase } from '../database/values.ts'

/** The first number of the advisory locks of steps. */
const STEP_LOCKS = 1_953_459_044
const lockNumbers: Readonly<Record<StepLock, number | undefined>> = {
  access: 1,
  books: undefined,
  catalog: 2,
  events: 3,
  sweeps: 4,
}

/** How often a step is tried whose unique value another one writes first. */
const TRIES_MAX = 5

/** The steps of one node. A step is a batch of its lane, so it runs alone in its node. */
export function createStepRunner({
  batches,
  reads,
  onFreed = () => undefined,
}: {
  readonly batches: Batches
  readonly reads: Pick<Reads, 'begin'>
  /** Called with each account whose balances a step changed, before the caller gets its outcome. */
  readonly onFreed?: (accountId: number) => void
}): StepRunner {
  return {
    async write(lock, step, options) {
      const work = async (writes: StepWrites) => {
        const run = new StepRun(writes.sql, { writes, answered: writes.answered })
        await run.takeLock(lock)
        const result = await run.toEnd(step())
        const changed = await run.writeBooks()
        return { result, after: [...run.after, ...changed.map(accountId => () => onFreed(accountId))] }
      }
      const committed = ({ after }: Awaited<ReturnType<typeof work>>) => {
        for (const call of after) tell(call)
      }
      const { result } = await whileTaken(() =>
        batches.run(work, { canWait: options?.canWait ?? false, committed }),
      )
      return result
    },
    read: step => readStep(reads, step),
  }
}

/** Runs a step that only reads. All its queries see the same state. */
export function readStep<T>(reads: Pick<Reads, 'begin'>, step: () => Step<T>): Promise<T> {
  return reads.begin('isolation level repeatable read read only', (sql, answered) =>
    readIn(sql, step, answered),
  )
}

/** Runs a step that only reads, in a transaction that has begun. Calls `answered` after each answer. */
export function readIn<T>(sql: SQL, step: () => Step<T>, answered?: () => void): Promise<T> {
  return new StepRun(sql, answered && { answered }).toEnd(step())
}

/** Runs a step again if another one wrote its unique value first: it then reads that row, and decides on it. */
async function whileTaken<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      if (meaningOf(error) !== 'taken' || tries === TRIES_MAX) throw error
    }
  }
}

/** Answers what a step asks. */
class StepRun {
  readonly after: (() => void)[] = []
  readonly #sql: SQL
  readonly #writes: StepWrites | undefined
  readonly #answered: () => void
  readonly #books = new Map<number, LockedBooks>()

  constructor(
    sql: SQL,
    {
      writes,
      answered = () => undefined,
    }: { readonly writes?: StepWrites; readonly answered?: () => void } = {},
  ) {
    this.#sql = sql
    this.#writes = writes
    this.#answered = answered
  }

  async toEnd<T>(step: Step<T>): Promise<T> {
    for (let asked = step.next(); ;) {
      if (asked.done === true) return asked.value
      const answer = await this.#answer(asked.value)
      this.#answered()
      asked = step.next(answer)
    }
  }

  async takeLock(lock: StepLock): Promise<void> {
    const number = lockNumbers[lock]
    if (number === undefined) return
    await this.#sql`SELECT pg_advisory_xact_lock(${STEP_LOCKS}::integer, ${number}::integer)`
    this.#answered()
  }

  async #answer(ask: Ask): Promise<unknown> {
    switch (ask.kind) {
      case 'query':
        return fromDatabase(await this.#sql.unsafe(numberedText(ask.sql), ask.values.map(toDatabase)))
      case 'insert':
        return this.#writing().insert(ask.table, ask.row as never)
      case 'books':
        return this.#booksOf(ask.accountId)
      case 'lock':
        return this.takeLock(ask.lock)
      case 'after':
        this.after.push(ask.call)
        return undefined
    }
  }

  /** Writes the balances that the step changed. Returns their accounts. */
  async writeBooks(): Promise<readonly number[]> {
    const changed: number[] = []
    for (const books of this.#books.values()) if (await books.write(this.#sql)) changed.push(books.accountId)
    return changed
  }

  async #booksOf(accountId: number): Promise<LockedBooks> {
    const known = this.#books.get(accountId)
    if (known !== undefined) return known
    const books = await LockedBooks.lock(this.#writing(), accountId)
    this.#books.set(accountId, books)
    return books
  }

  #writing(): StepWrites {
    if (this.#writes === undefined) throw new Error('A step that only reads asks for a change.')
    return this.#writes
  }
}
