import type { Timers } from '../timers.ts'
import type { ClientConnection } from './client-connection.ts'
import type { Origin } from './http-request.ts'

/** Connections of one origin that may be idle at once. More are closed. */
const IDLE_MAX = 256

/** Idle connections by origin. */
export class ConnectionPool {
  readonly #idle = new Map<string, ClientConnection[]>()
  readonly #timers: Timers
  #isClosed = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** The connection used last, because the server is least likely to close that one. */
  take({ key }: Origin): ClientConnection | undefined {
    const idle = this.#idle.get(key)
    const connection = idle?.pop()
    if (connection === undefined) return undefined
    if (idle?.length === 0) this.#idle.delete(key)
    // Its timer is only paused, because it is needed again after the request.
    connection.expiresAtMs = Infinity
    return connection
  }

  /**
   * Keeps a connection for the next request, for `idleMs` at most. False if `idleMs` is not above 0, or if enough
   * connections are kept.
   */
  keep(connection: ClientConnection, idleMs: number): boolean {
    if (this.#isClosed || idleMs <= 0) return false
    const { key } = connection.origin
    const idle = this.#idle.get(key)
    if (idle === undefined) this.#idle.set(key, [connection])
    else if (idle.length < IDLE_MAX) idle.push(connection)
    else return false
    connection.expiresAtMs = this.#timers.now() + idleMs
    this.#timers.start(connection)
    return true
  }

  /** Forgets a connection that has closed. */
  remove(connection: ClientConnection): void {
    this.#timers.stop(connection)
    const { key } = connection.origin
    const idle = this.#idle.get(key)
    const index = idle?.lastIndexOf(connection) ?? -1
    if (idle === undefined || index < 0) return
    idle.splice(index, 1)
    if (idle.length === 0) this.#idle.delete(key)
  }

  /** Closes idle connections, and keeps no other from now on. */
  close(): void {
    this.#isClosed = true
    for (const connection of [...this.#idle.values()].flat()) connection.abandon()
  }
}
