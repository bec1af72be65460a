import type { ApiKey } from '../../../domain/accounts/api-key.ts'
import { run, type StepRunner, type Step } from '../steps.ts'
import { dayOf } from '../usage/usage-days.ts'
import { LIST_MAX, listOf } from '../value-lists.ts'

/**
 * The days on which keys were used, until they are written. A key has one write a day, and no request waits for it. A
 * kill loses the days that are not written.
 */
export class KeyUses {
  readonly #stepRunner: StepRunner
  /** By the ids of the keys. */
  readonly #unwritten = new Map<number, number>()
  /** The latest noted day of each key object. Entries go with the objects. */
  readonly #noted = new WeakMap<ApiKey, number>()

  constructor(stepRunner: StepRunner) {
    this.#stepRunner = stepRunner
  }

  note(key: ApiKey, atMs: number): void {
    const day = dayOf(atMs)
    const known = this.#noted.get(key) ?? key.lastUsedDay ?? -1
    if (day <= known) return
    this.#noted.set(key, day)
    this.#unwritten.set(key.id, day)
  }

  /** All steps are asked for at once, so that those of a closing node are not refused. */
  async write(): Promise<void> {
    const uses = [...this.#unwritten]
    const steps: Promise<void>[] = []
    for (const [day, ofDay] of Map.groupBy(uses, ([, day]) => day)) {
      const ids = ofDay.map(([id]) => id).toSorted((left, right) => left - right)
      for (let from = 0; from < ids.length; from += LIST_MAX)
        steps.push(this.#stepRunner.write('access', () => writeDay(day, ids.slice(from, from + LIST_MAX))))
    }
    await Promise.all(steps)
    // A use on a later day may have been noted in between.
    for (const [id, day] of uses) if (this.#unwritten.get(id) === day) this.#unwritten.delete(id)
  }
}

function writeDay(day: number, ids: readonly number[]): Step<void> {
  const keys = listOf(ids)
  return run(
    `UPDATE api_keys SET last_used_day = ? WHERE id IN ${keys.sql} AND coalesce(last_used_day, -1) < ?`,
    day,
    ...keys.values,
    day,
  )
}
