import { isOutage } from '../../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Affected, Ledger, Verification } from '../ports/ledger/ledger.ts'
import type { BooksGuard } from './books-guard.ts'
import type { SharedChecks } from './shared-checks.ts'

export type CheckPorts = {
  readonly ledger: Pick<Ledger, 'verify' | 'verifyRecent'>
  readonly guard: Pick<BooksGuard, 'noteCheck' | 'noteFailedCheck'>
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  /** Only if several nodes may share the books. */
  readonly sharedChecks?: Pick<SharedChecks, 'begin'> | undefined
}

export type CheckResult = Verification & {
  /** Why the other nodes do not have this result. Absent if they have it, or if there are none. */
  readonly unshared?: unknown
  /** Why only the recent rows were checked, although accounts are stopped. */
  readonly fullFailure?: unknown
}

type Verify = () => Promise<CheckResult>

/**
 * Checks the books as `Ledger.verify` does, and tells the guard what was found, or that the check could not run. The
 * guards of other nodes get the result, too. A store that soon does not answer says nothing about the books, and
 * refuses paid work by itself until it answers again. One that takes too long for a check cannot check its books. A
 * result that cannot be shared is no failed check either.
 */
export function checkBooks(
  ports: Omit<CheckPorts, 'ledger'> & { readonly ledger: Pick<Ledger, 'verify'> },
  ...about: Parameters<Ledger['verify']>
): Promise<CheckResult> {
  return checkWith(
    ports,
    notingFailures(ports, () => ports.ledger.verify(...about)),
  )
}

/** The same with `Ledger.verifyRecent`. */
export function checkRecentRows(ports: CheckPorts): Promise<CheckResult> {
  return checkWith(
    ports,
    notingFailures(ports, () => ports.ledger.verifyRecent()),
  )
}

/**
 * The same with all rows while accounts are `stopped`. If those cannot be read, as in books that are too large for it,
 * the recent rows are checked, and what is stopped stays so, because what is wrong may be in an earlier row.
 */
export function checkWhileStopped(ports: CheckPorts, stopped: Affected): Promise<CheckResult> {
  const { ledger } = ports
  return checkWith(
    ports,
    notingFailures(ports, async () => {
      try {
        return await ledger.verify()
      } catch (fullFailure) {
        const found = await ledger.verifyRecent({ isAllUnreadable: true }).catch(() => undefined)
        if (found === undefined) throw fullFailure
        return found.isRecent ? { ...found, affected: bothOf(stopped, found.affected), fullFailure } : found
      }
    }),
  )
}

function bothOf(one: Affected, other: Affected): Affected {
  if (one === 'everything' || other === 'everything') return 'everything'
  return [...new Set([...one, ...other])]
}

/** Checks all of the books after their recent rows: if this cannot run, the guard is not told. */
export function checkEarlierRows(ports: CheckPorts): Promise<CheckResult> {
  return checkWith(ports, () => ports.ledger.verify())
}

async function checkWith(
  { guard, clock, sharedChecks }: Omit<CheckPorts, 'ledger'>,
  verify: Verify,
): Promise<CheckResult> {
  const begun = await sharedChecks?.begin()
  const verification = await verify()
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

function notingFailures({ guard, clock }: Omit<CheckPorts, 'ledger'>, verify: Verify): Verify {
  return async () => {
    const startedMs = clock.monotonicMs()
    try {
      return await verify()
    } catch (error) {
      const isBriefOutage = isOutage(error) && clock.monotonicMs() - startedMs < LONG_MS
      if (!isBriefOutage) guard.noteFailedCheck()
      throw error
    }
  }
}

/** A store answers the largest step of a check within ten minutes, or not at all. */
const LONG_MS = 300_000
