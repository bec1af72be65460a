import { GatewayError } from '../domain/errors.ts'
import type { BooksGuard } from '../gateway/books/books-guard.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import type { Ledger } from '../gateway/ports/ledger.ts'

type Guards = {
  /** False while the store cannot be written. */
  readonly isWritable: () => boolean
  readonly guard: Pick<BooksGuard, 'refusal' | 'noteCheck' | 'noteFailedCheck'>
}

/**
 * A ledger that refuses new holds while its store cannot be written, because the charge of that work could not be
 * recorded, and while its books are known to be wrong. Each check of the books reports its result to the guard.
 */
export function guardedLedger<Books extends Ledger>(ledger: Books, guards: Guards): Books {
  return {
    ...ledger,
    async verify() {
      try {
        const verification = await ledger.verify()
        guards.guard.noteCheck(verification.affected)
        return verification
      } catch (error) {
        guards.guard.noteFailedCheck()
        throw error
      }
    },
    placeHold(request) {
      const refusal = refusalOf(request.accountId, guards)
      return refusal === undefined ? ledger.placeHold(request) : Promise.reject(refusal)
    },
  }
}

/** Refuses to create jobs in the same cases. */
export function guardedJobs(jobs: Jobs, guards: Guards): Jobs {
  return {
    ...jobs,
    create(job) {
      const refusal = refusalOf(job.accountId, guards)
      return refusal === undefined ? jobs.create(job) : Promise.reject(refusal)
    },
  }
}

function refusalOf(accountId: number, { isWritable, guard }: Guards): GatewayError | undefined {
  if (isWritable()) return guard.refusal(accountId)
  return new GatewayError(
    'unavailable',
    'The gateway cannot record charges at the moment. Try again shortly.',
    { retryAfter: '5' },
  )
}
