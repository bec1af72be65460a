/** More is taken at once: a flood must be able to be paused, and is worth the time of its own. */
const WAITING_BYTES_MAX = 64 * 1024

/** What has come on a connection and waits for the end of the turn, one more read of the socket beyond its limit at most. */
export class Arrived {
  #bytes: Buffer | undefined

  get isEmpty(): boolean {
    return this.#bytes === undefined
  }

  /** Whether it must not wait. */
  get isMuch(): boolean {
    return this.#bytes !== undefined && this.#bytes.length > WAITING_BYTES_MAX
  }

  /** True where nothing waited before it. Who says so each time would keep the others of a turn waiting. */
  push(bytes: Buffer): boolean {
    const isFirst = this.#bytes === undefined
    this.#bytes = this.#bytes === undefined ? bytes : Buffer.concat([this.#bytes, bytes])
    return isFirst
  }

  /** All of it; undefined where there is none. */
  take(): Buffer | undefined {
    const bytes = this.#bytes
    this.#bytes = undefined
    return bytes
  }
}
