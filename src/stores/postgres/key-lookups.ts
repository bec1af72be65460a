import type { SQL } from 'bun'
import { GatewayError } from '../../domain/errors.ts'
import type { Authenticated } from '../../gateway/ports/access/api-keys.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import { presentedKeys, type KeptKeys } from '../books/access/kept-keys.ts'
import { afterCommit, run, type Step } from '../books/steps.ts'
import { LIST_MAX } from '../books/value-lists.ts'
import { readStep } from './lanes/step-runner.ts'
import type { Poll, Watch } from './database/poll.ts'
import { TimedConnection } from './database/timed-connection.ts'

/** Requests are refused within three seconds after the database stopped answering. */
const ANSWER_MS = 2000
/** Far more than a node has in flight. A flood of unknown keys must not fill the memory. */
const WAITING_MAX = 65_536

/** A hash that no key has. */
const NO_KEY = Buffer.alloc(32).toString('base64')

/** While the database is down, every request fails for the same cause. It is logged once in this time. */
const CAUSE_EVERY_MS = 1000

type KeyAnswer = PromiseWithResolvers<Authenticated | undefined>

/**
 * The keys that a node keeps. It forgets them when a step of any node changed keys, accounts or projects, and does not
 * trust them while it cannot know of such changes. Keys that it does not keep are read from the database: those that
 * are asked for in one turn of the event loop, or while another read runs, in one query.
 */
export class KeyLookups {
  readonly #kept: KeptKeys
  readonly #connection: TimedConnection
  readonly #poll: Pick<Poll, 'isFresh'>
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** By their hashes. */
  readonly #waiting = new Map<string, KeyAnswer>()
  #isReading = false
  #causeGivenAtMs = -Infinity

  /** `kept` is forgotten by `watchOf(kept)`, which must be one of the watches of `poll`. */
  constructor(parts: {
    readonly connect: () => SQL
    readonly clock: Pick<Clock, 'after' | 'monotonicMs'>
    readonly kept: KeptKeys
    readonly poll: Pick<Poll, 'isFresh'>
  }) {
    this.#connection = new TimedConnection({ ...parts, answerMs: ANSWER_MS })
    this.#kept = parts.kept
    this.#poll = parts.poll
    this.#clock = parts.clock
  }

  /** Throws `unavailable` if the key must be read and the database does not answer. */
  find(hash: string): Promise<Authenticated | undefined> {
    const known = this.#poll.isFresh ? this.#kept.find(hash) : undefined
    return known === undefined ? this.#read(hash) : Promise.resolve(known)
  }

  /**
   * Connects, so that the first request does not wait for it: a machine that starts a gateway is often busy. A database
   * that does not answer is asked again by the first request.
   */
  async open(): Promise<void> {
    await this.find(NO_KEY).catch(() => undefined)
  }

  close(): void {
    this.#connection.close()
  }

  #read(hash: string): Promise<Authenticated | undefined> {
    const asked = this.#waiting.get(hash)
    if (asked !== undefined) return asked.promise
    if (this.#waiting.size >= WAITING_MAX) return Promise.reject(notChecked())
    const answer: KeyAnswer = Promise.withResolvers()
    this.#waiting.set(hash, answer)
    if (!this.#isReading) void this.#readWaiting()
    return answer.promise
  }

  async #readWaiting(): Promise<void> {
    this.#isReading = true
    await new Promise(setImmediate)
    while (this.#waiting.size > 0) await this.#readNext()
    this.#isReading = false
  }

  async #readNext(): Promise<void> {
    const asked = [...this.#waiting].slice(0, LIST_MAX)
    for (const [hash] of asked) this.#waiting.delete(hash)
    try {
      const found = await this.#keysOf(asked.map(([hash]) => hash))
      for (const [hash, { resolve }] of asked) resolve(found.get(hash))
    } catch (cause) {
      const refused = [...asked, ...this.#waiting]
      this.#waiting.clear()
      for (const [, { reject }] of refused) reject(this.#failed(cause))
    }
  }

  #failed(cause: unknown): GatewayError {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#causeGivenAtMs < CAUSE_EVERY_MS) return notChecked()
    this.#causeGivenAtMs = nowMs
    return notChecked(cause)
  }

  async #keysOf(hashes: readonly string[]): Promise<ReadonlyMap<string, Authenticated>> {
    const { generation } = this.#kept
    const bytes = hashes.map(hash => new Uint8Array(Buffer.from(hash, 'base64')))
    const read = await this.#connection.ask(sql => readStep(sql, () => presentedKeys(bytes)))
    const found = new Map(
      read.map(({ hash, authenticated }) => [Buffer.from(hash).toString('base64'), authenticated]),
    )
    for (const [hash, authenticated] of found) this.#kept.keep(hash, authenticated, generation)
    return found
  }
}

/** The copies that a node keeps of keys, accounts, projects and their limits. */
export type Kept = { readonly forget: () => void }

/** Inside a step that changes keys, accounts, projects or limits: has all nodes forget what they keep of them. */
export function* forgetOnAllNodes(kept: Kept): Step<void> {
  // The new row stays the last one, so that the number that nodes watch never repeats.
  yield* run("DELETE FROM access_changes WHERE at < clock_timestamp() - interval '1 hour'")
  yield* run('INSERT INTO access_changes DEFAULT VALUES')
  yield* afterCommit(() => kept.forget())
}

/** Forgets what a node keeps when another one changed any of it. */
export function watchOf(kept: Kept): Watch {
  let last: bigint | undefined
  return {
    sql: 'SELECT coalesce(max(id), 0) FROM access_changes',
    seen(number) {
      if (number !== last) kept.forget()
      last = number
    },
  }
}

/** The error for a caller whose key cannot be looked up. A retry can help. */
function notChecked(cause?: unknown): GatewayError {
  return new GatewayError('unavailable', 'The API key cannot be checked at the moment. Try again shortly.', {
    retryAfter: '1',
    cause,
  })
}
