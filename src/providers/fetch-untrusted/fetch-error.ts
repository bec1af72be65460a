import { failureReason } from '../http/failure-reason.ts'

/** Why a fetch failed. The message completes "download failed:" and has no host and no key. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  /** Whether a repeat would fail in the same way. */
  readonly isPermanent: boolean

  constructor(problem: string, { isPermanent = false }: { readonly isPermanent?: boolean } = {}) {
    super(problem)
    this.isPermanent = isPermanent
  }
}

/** The gateway does not fetch this URL. The message says which part of it is not allowed. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

/** An error of the network, with its code. */
export function networkError(what: string, error: unknown): FetchError {
  return error instanceof FetchError ? error : new FetchError(`${what}: ${failureReason(error)}`)
}
