import type { FetchedBody } from '../../gateway/ports/untrusted-fetch.ts'
import type { HttpResponse } from '../../http1/client/http-client.ts'
import { FetchError, networkError } from './fetch-error.ts'
import type { FetchLimits } from './fetch-limits.ts'

/** The body of a response, up to a limit. */
export class LimitedBody implements FetchedBody {
  readonly #response: HttpResponse
  readonly #bytesMax: number
  readonly #limits: FetchLimits
  #bytes = 0
  #isOver = false
  #failure: FetchError | undefined

  constructor(
    response: HttpResponse,
    { bytesMax, limits }: { readonly bytesMax: number; readonly limits: FetchLimits },
  ) {
    this.#response = response
    this.#bytesMax = bytesMax
    this.#limits = limits
  }

  get failure(): FetchedBody['failure'] {
    const failure = this.#failure
    return failure && { problem: failure.message, isPermanent: failure.isPermanent }
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#isOver) return undefined
    try {
      const piece = await this.#response.read()
      this.#bytes += piece?.length ?? 0
      if (this.#bytes > this.#bytesMax) throw tooLarge(this.#bytesMax)
      if (piece !== undefined) return piece
      this.#end(undefined)
    } catch (error) {
      this.#end(this.#limits.failure ?? networkError('connection', error))
    }
    return undefined
  }

  cancel(): void {
    this.#end(new FetchError('cancelled'))
  }

  #end(failure: FetchError | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#limits.stop()
    // Does nothing after the end.
    this.#response.cancel()
  }
}

export function tooLarge(bytesMax: number): FetchError {
  return new FetchError(`it has more than ${bytesMax} bytes`, { isPermanent: true })
}
