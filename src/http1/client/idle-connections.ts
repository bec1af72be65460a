import type { Deadlines } from '../../providers/deadlines.ts'
import type { Connection } from './connection.ts'
import type { Origin } from './http-request.ts'

/** Connections of one server that may wait at once; more are closed. */
const IDLE_MAX = 256
/** Most servers close a connection that waits this long, or longer, without a request. */
const IDLE_MS_MAX = 30_000

/** Connections that wait for a request, by server. */
export class IdleConnections {
  readonly #byOrigin = new Map<string, Connection[]>()
  readonly #deadlines: Deadlines
  #isClosed = false

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  /** The one used last, which the server is least likely to be about to close. */
  take(origin: Origin): Connection | undefined {
    const connection = this.#byOrigin.get(origin.key)?.pop()
    if (connection !== undefined) this.#deadlines.forget(connection)
    return connection
  }

  /** False where enough of them wait. */
  keep(connection: Connection): boolean {
    if (this.#isClosed) return false
    const waiting = this.#byOrigin.get(connection.origin.key)
    if (waiting === undefined) this.#byOrigin.set(connection.origin.key, [connection])
    else if (waiting.length < IDLE_MAX) waiting.push(connection)
    else return false
    connection.deadlineMs = this.#deadlines.now() + IDLE_MS_MAX
    this.#deadlines.watch(connection)
    return true
  }

  /** After a connection has closed: forgets it, and its server where nothing else waits there. */
  forget(connection: Connection): void {
    this.#deadlines.forget(connection)
    const waiting = this.#byOrigin.get(connection.origin.key)
    if (waiting === undefined) return
    const index = waiting.lastIndexOf(connection)
    if (index >= 0) waiting.splice(index, 1)
    if (waiting.length === 0) this.#byOrigin.delete(connection.origin.key)
  }

  /** Closes all that wait, and keeps no other. */
  close(): void {
    this.#isClosed = true
    for (const connection of [...this.#byOrigin.values()].flat()) connection.abandon()
  }
}
