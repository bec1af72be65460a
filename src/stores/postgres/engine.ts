import type { SQL } from 'bun'
import type { Ask, Engine, Step, Turn } from '../books/steps.ts'
import type { Batches } from './batches.ts'
import type { StepWrites } from './step-writes.ts'
import { fromDatabase, numberedText, toDatabase } from './values.ts'

/** The first number of the locks of turns. */
const TURNS = 1_953_459_044
const turns: Readonly<Record<Turn, number | undefined>> = {
  access: 1,
  books: undefined,
  catalog: 2,
  events: 3,
}

/** The steps of one node. A step is a batch of its lane, so it runs alone in its node. */
export function createEngine({ batches, reads }: { readonly batches: Batches; readonly reads: SQL }): Engine {
  return {
    async write(turn, step) {
      let after: readonly (() => void)[] = []
      const result = await batches.run(async writes => {
        const lock = turns[turn]
        if (lock !== undefined)
          await writes.sql`SELECT pg_advisory_xact_lock(${TURNS}::integer, ${lock}::integer)`
        const run = new StepRun(writes.sql, writes)
        const found = await run.toEnd(step())
        after = run.after
        return found
      })
      for (const then of after) then()
      return result
    },
    read: step =>
      reads.begin('isolation level repeatable read read only', sql =>
        new StepRun(sql).toEnd(step()),
      ) as Promise<never>,
  }
}

/** Answers what a step asks. */
class StepRun {
  readonly after: (() => void)[] = []
  readonly #sql: SQL
  readonly #writes: StepWrites | undefined

  constructor(sql: SQL, writes?: StepWrites) {
    this.#sql = sql
    this.#writes = writes
  }

  async toEnd<T>(step: Step<T>): Promise<T> {
    for (let asked = step.next(); ; asked = step.next(await this.#answer(asked.value)))
      if (asked.done === true) return asked.value
  }

  async #answer(ask: Ask): Promise<unknown> {
    switch (ask.kind) {
      case 'query':
        return fromDatabase(await this.#sql.unsafe(numberedText(ask.sql), ask.values.map(toDatabase)))
      case 'insert':
        if (this.#writes === undefined) throw new Error('A step that reads inserts a row.')
        return this.#writes.insert(ask.table, ask.row as never)
      case 'after':
        return this.after.push(ask.then)
    }
  }
}
