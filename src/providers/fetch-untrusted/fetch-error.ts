import { failureReason } from '../failure-reason.ts'

/** Why a fetch failed. The message completes "download failed:", and names neither host nor key. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  /** Whether a repeat would fail in the same way. */
  readonly isPermanent: boolean

  constructor(problem: string, { isPermanent = false }: { readonly isPermanent?: boolean } = {}) {
    super(problem)
    this.isPermanent = isPermanent
  }
}

/** The gateway does not fetch this. The message says what of the URL is not allowed. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

/** What went wrong on the network, with its code. */
export function networkError(what: string, error: unknown): FetchError {
  return error instanceof FetchError ? error : new FetchError(`${what}: ${failureReason(error)}`)
}
