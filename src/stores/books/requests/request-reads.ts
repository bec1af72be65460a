import { GatewayError } from '../../../domain/errors.ts'

/** More reads would wait for seconds. */
const READS_MAX = 16

/**
 * The reads of request records. They run one at a time, so that a batch waits for one long list at most, and clients
 * that list cannot cost records.
 */
export class RequestReads {
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  /** Rejects with `overloaded` if too many reads wait, and with `unavailable` if this one fails. */
  async run<Result>(read: () => Promise<Result>): Promise<Result> {
    if (this.#waiting >= READS_MAX)
      throw new GatewayError('overloaded', 'Too many lists of requests are being read. Try again shortly.', {
        retryAfter: '1',
      })
    this.#waiting += 1
    const result = this.#last.then(read)
    this.#last = result.catch(() => undefined)
    try {
      return await result
    } catch (cause) {
      throw new GatewayError('unavailable', 'The records of requests cannot be read now.', { cause })
    } finally {
      this.#waiting -= 1
    }
  }
}
