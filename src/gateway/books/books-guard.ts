import { GatewayError } from '../../domain/errors.ts'

/**
 * Refuses paid work while the books have a known problem: work that is recorded in wrong books may never be paid. Running work is
 * settled, and reads go on.
 */
export class BooksGuard {
  readonly #isAnchored: () => boolean

  constructor(ports: {
    /** False while the books do not fit their anchor. */
    readonly isAnchored: () => boolean
  }) {
    this.#isAnchored = ports.isAnchored
  }

  /** Why no account may start paid work, as a sentence without details; undefined if accounts may. */
  get stop(): string | undefined {
    return this.#isAnchored() ? undefined : 'The books do not fit their anchor.'
  }

  /** The error for new paid work of an account; undefined if it may start. */
  refusal(_accountId: number): GatewayError | undefined {
    return this.stop === undefined ? undefined : inconsistent('of this gateway')
  }
}

function inconsistent(whose: string): GatewayError {
  return new GatewayError(
    'books_inconsistent',
    `The books ${whose} have a problem, so no paid request is served until the operator has resolved it. Contact support and include this request id.`,
    { shouldRetry: false },
  )
}
