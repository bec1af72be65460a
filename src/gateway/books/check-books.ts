import { isOutage } from '../../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger, Verification } from '../ports/ledger.ts'
import type { BooksGuard } from './books-guard.ts'
import type { SharedChecks } from './shared-checks.ts'

export type CheckPorts = {
  readonly ledger: Pick<Ledger, 'verify'>
  readonly guard: Pick<BooksGuard, 'noteCheck' | 'noteFailedCheck'>
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  /** Only if several nodes may share the books. */
  readonly sharedChecks?: Pick<SharedChecks, 'begin'> | undefined
}

export type CheckResult = Verification & {
  /** Why the other nodes do not have this result. Absent if they have it, or if there are none. */
  readonly unshared?: unknown
}

/**
 * Checks the books as `Ledger.verify` does, and tells the guard what was found, or that the check could not run. The
 * guards of other nodes get the result, too. A store that soon does not answer says nothing about the books, and
 * refuses paid work by itself until it answers again. One that takes too long for a check cannot check its books. A
 * result that cannot be shared is no failed check either.
 */
export async function checkBooks(
  { ledger, guard, clock, sharedChecks }: CheckPorts,
  ...about: Parameters<Ledger['verify']>
): Promise<CheckResult> {
  const begun = await sharedChecks?.begin()
  const startedMs = clock.monotonicMs()
  const verification = await ledger.verify(...about).catch((error: unknown) => {
    const isBriefOutage = isOutage(error) && clock.monotonicMs() - startedMs < LONG_MS
    if (!isBriefOutage) guard.noteFailedCheck()
    throw error
  })
  if (begun === undefined) {
    guard.noteCheck(verification, clock.now())
    return verification
  }
  try {
    await begun.end(verification)
    return verification
  } catch (unshared) {
    return { ...verification, unshared }
  }
}

/** A store answers the largest step of a check within ten minutes, or not at all. */
const LONG_MS = 300_000
