/** The part of a socket that writing needs. */
export type WritableSocket = { write(bytes: Uint8Array, offset: number, length: number): number }

/** Writes to a socket in order, and keeps what the socket has not taken yet. */
export class SocketWriter {
  readonly #socket: WritableSocket
  #unsent: Uint8Array[] = []
  #draining: PromiseWithResolvers<void> | undefined
  #failure: Error | undefined
  #taken = 0
  #isClosed = false

  constructor(socket: WritableSocket) {
    this.#socket = socket
  }

  /** Whether the socket has taken everything. */
  get isDrained(): boolean {
    return this.#unsent.length === 0
  }

  /** The number of bytes that the socket has taken. */
  get taken(): number {
    return this.#taken
  }

  /** Whether the socket has refused bytes because it is closed. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Writes as much as the socket takes, and the rest later. The bytes must not change until then. */
  write(bytes: Uint8Array): void {
    const taken = this.#send(bytes, bytes.length)
    if (taken < bytes.length) this.#unsent.push(taken === 0 ? bytes : bytes.subarray(taken))
  }

  /** Like `write`, for the first bytes of a buffer that may change after this returns. */
  writeShared(buffer: Uint8Array, length: number): void {
    const taken = this.#send(buffer, length)
    // Not `slice`, which does not copy a Buffer.
    if (taken < length) this.#unsent.push(new Uint8Array(buffer.subarray(taken, length)))
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
      const taken = this.#take(next, next.length)
      if (taken < next.length) {
        this.#unsent[0] = next.subarray(taken)
        return
      }
      this.#unsent.shift()
    }
    this.#draining?.resolve()
    this.#draining = undefined
  }

  /** How much the socket takes of the first bytes of a buffer: nothing while others wait. */
  #send(buffer: Uint8Array, length: number): number {
    return this.#unsent.length > 0 ? 0 : this.#take(buffer, length)
  }

  /** A negative number means that the socket is closed. Its `close` event follows. */
  #take(buffer: Uint8Array, length: number): number {
    const taken = this.#socket.write(buffer, 0, length)
    if (taken < 0) this.#isClosed = true
    else this.#taken += taken
    return Math.max(0, taken)
  }

  /** The socket has closed. */
  close(failure: Error): void {
    this.#failure ??= failure
    this.#draining?.reject(this.#failure)
    this.#draining = undefined
  }
}
