/** As much of a socket as writing needs. */
export type WritableSocket = { write(bytes: Uint8Array): number }

/** Writes to a socket in order, and keeps what the socket has not taken yet. */
export class SocketWriter {
  readonly #socket: WritableSocket
  #unsent: Uint8Array[] = []
  #draining: PromiseWithResolvers<void> | undefined
  #failure: Error | undefined

  constructor(socket: WritableSocket) {
    this.#socket = socket
  }

  /** Whether the socket has taken everything. */
  get isDrained(): boolean {
    return this.#unsent.length === 0
  }

  /** Writes as much as the socket takes, and the rest later. The bytes must not change until then. */
  write(bytes: Uint8Array): void {
    this.#unsent.push(bytes)
    if (this.#unsent.length === 1) this.onDrain()
  }

  /** As `write`, for bytes that may change once this returns. */
  writeShared(bytes: Uint8Array): void {
    this.write(bytes)
    const last = this.#unsent.at(-1)
    // Not `slice`, which does not copy a Buffer.
    if (last !== undefined) this.#unsent[this.#unsent.length - 1] = new Uint8Array(last)
  }

  /** Resolves when the socket has taken everything; rejects when it is closed before that. */
  drained(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.isDrained) return Promise.resolve()
    this.#draining ??= Promise.withResolvers<void>()
    return this.#draining.promise
  }

  /** The socket takes bytes again. */
  onDrain(): void {
    for (let next = this.#unsent[0]; next !== undefined; next = this.#unsent[0]) {
      // A negative number means that the socket is closed. Its `close` event follows.
      const taken = Math.max(0, this.#socket.write(next))
      if (taken < next.length) {
        this.#unsent[0] = next.subarray(taken)
        return
      }
      this.#unsent.shift()
    }
    this.#draining?.resolve()
    this.#draining = undefined
  }

  /** The socket has closed. */
  close(failure: Error): void {
    this.#failure ??= failure
    this.#draining?.reject(this.#failure)
    this.#draining = undefined
  }
}
