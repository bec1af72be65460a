import type { Database, Statement } from 'bun:sqlite'
import type { ApiKey } from '../../domain/accounts/api-key.ts'
import { dayOf } from '../books/usage-days.ts'
import type { GroupCommit } from './group-commit.ts'

/** The keys of one step: about a millisecond of work. */
const KEYS_MAX = 500

/**
 * The days on which keys were used, until they are written. A key has one write a day, and no request waits for it. A
 * kill loses the days that are not written.
 */
export class KeyUses {
  readonly #groupCommit: GroupCommit
  readonly #update: Statement
  /** By the ids of the keys. */
  readonly #unwritten = new Map<number, number>()
  /** The latest noted day of each key object. Entries go with the objects. */
  readonly #noted = new WeakMap<ApiKey, number>()

  constructor({ database, groupCommit }: { readonly database: Database; readonly groupCommit: GroupCommit }) {
    this.#groupCommit = groupCommit
    this.#update = database.prepare(
      'UPDATE api_keys SET last_used_day = ?1 WHERE id = ?2 AND ifnull(last_used_day, -1) < ?1',
    )
  }

  note(key: ApiKey, atMs: number): void {
    const day = dayOf(atMs)
    const known = this.#noted.get(key) ?? key.lastUsedDay ?? -1
    if (day <= known) return
    this.#noted.set(key, day)
    this.#unwritten.set(key.id, day)
  }

  /** All steps wait for one commit, so that those of a closing node are not refused. */
  async write(): Promise<void> {
    const uses = [...this.#unwritten]
    const steps: Promise<void>[] = []
    for (let from = 0; from < uses.length; from += KEYS_MAX)
      steps.push(this.#groupCommit.run(() => this.#writeAll(uses.slice(from, from + KEYS_MAX))))
    await Promise.all(steps)
    // A use on a later day may have been noted in between.
    for (const [id, day] of uses) if (this.#unwritten.get(id) === day) this.#unwritten.delete(id)
  }

  #writeAll(uses: readonly (readonly [id: number, day: number])[]): void {
    for (const [id, day] of uses) this.#update.run(day, id)
  }
}
