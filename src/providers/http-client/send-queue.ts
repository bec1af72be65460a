import type { Connection } from './connection.ts'

/**
 * Requests that are made in one turn of the event loop go out together at its end: a server that sleeps is woken by the first of
 * them, and being woken for each costs both sides more than sending does.
 */
export class SendQueue {
  #waiting: Connection[] = []

  /** Has `send` called before long. */
  add(connection: Connection): void {
    this.#waiting.push(connection)
    if (this.#waiting.length === 1) setImmediate(this.#sendAll)
  }

  readonly #sendAll = () => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const connection of waiting) connection.send()
  }
}
