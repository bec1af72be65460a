import type { Connection } from './connection.ts'
import type { Origin } from './http-request.ts'

/** Connections of one server that may wait at once; more are closed. */
const IDLE_MAX = 256

/** Connections that wait for a request, by server. */
export class IdleConnections {
  readonly #byOrigin = new Map<string, Connection[]>()
  #isClosed = false

  /** The one used last, which the server is least likely to be about to close. */
  take(origin: Origin): Connection | undefined {
    return this.#byOrigin.get(origin.key)?.pop()
  }

  /** False where enough of them wait. */
  keep(connection: Connection): boolean {
    if (this.#isClosed) return false
    const waiting = this.#byOrigin.get(connection.origin.key)
    if (waiting === undefined) this.#byOrigin.set(connection.origin.key, [connection])
    else if (waiting.length < IDLE_MAX) waiting.push(connection)
    else return false
    return true
  }

  /** After a connection has closed: forgets it, and its server where nothing else waits there. */
  forget(connection: Connection): void {
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
