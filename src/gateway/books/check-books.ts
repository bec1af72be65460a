import { isOutage } from '../../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger, Verification } from '../ports/ledger.ts'
import type { StoredCheck } from '../ports/book-checks.ts'
import type { BooksGuard } from './books-guard.ts'
import type { SharedChecks } from './shared-checks.ts'

type CheckPorts = {
  readonly ledger: Pick<Ledger, 'verify'>
  readonly guard: Pick<BooksGuard, 'noteCheck' | 'noteFailedCheck'>
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  /** Only if several nodes may share the books. */
  readonly sharedChecks?: Pick<SharedChecks, 'begin'> | undefined
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
): Promise<Verification> {
  const begun = await sharedChecks?.begin()
  const startedMs = clock.monotonicMs()
  const verification = await ledger.verify(...about).catch((error: unknown) => {
    const isBriefOutage = isOutage(error) && clock.monotonicMs() - startedMs < LONG_MS
    if (!isBriefOutage) guard.noteFailedCheck()
    throw error
  })
  if (begun === undefined) guard.noteCheck(verification, clock.now())
  else await begun.end(verification)
  return verification
}

/** A store answers the largest step of a check within ten minutes, or not at all. */
const LONG_MS = 300_000

/** The time until a check that could not run is repeated, and until a node looks again while another one checks. */
const RETRY_MS = 60_000

type RegularPorts = CheckPorts & {
  readonly clock: Clock
  readonly sharedChecks?: SharedChecks | undefined
  readonly report: (result: Verification) => void
  readonly onFailed: (error: unknown) => void
}

/**
 * Checks the books now, and again `everyMs` after each check. Reports each result. A check that cannot run is reported
 * as failed, and repeated after a minute. Of several nodes that share the books, one checks for all. Returns a function
 * that stops it.
 */
export function checkBooksRegularly(ports: RegularPorts, everyMs: number): () => void {
  const { clock, sharedChecks, report, onFailed } = ports
  let isStopped = false
  let cancel = () => {}
  const check = async () => {
    let nextMs = everyMs
    const checkNow = async () => {
      const result = await checkBooks(ports)
      if (!isStopped) report(result)
    }
    try {
      if (sharedChecks === undefined) await checkNow()
      else nextMs = await checkInTurn({ sharedChecks, clock, checkNow }, everyMs)
    } catch (error) {
      nextMs = RETRY_MS
      if (!isStopped) onFailed(error)
    }
    if (!isStopped) cancel = clock.after(nextMs, () => void check())
  }
  void check()
  return () => {
    isStopped = true
    cancel()
    void sharedChecks?.endTurn()
  }
}

/**
 * Checks the books if no other node does, and none has within `everyMs`. Otherwise this node has the result of the
 * other one. Returns the time until this node should look again.
 */
async function checkInTurn(
  {
    sharedChecks,
    clock,
    checkNow,
  }: { readonly sharedChecks: SharedChecks; readonly clock: Clock; readonly checkNow: () => Promise<void> },
  everyMs: number,
): Promise<number> {
  const hasTurn = await sharedChecks.takeTurn()
  try {
    // Read after the turn was taken, so that the result of the node that had it before is seen.
    const last = await sharedChecks.adoptLast()
    if (!hasTurn) return RETRY_MS
    const freshMs = last === undefined ? 0 : freshForMs(last, clock.now(), everyMs)
    if (freshMs > 0) return freshMs
    await checkNow()
    return everyMs
  } finally {
    await sharedChecks.endTurn()
  }
}

/**
 * The time until a result is `everyMs` old. A node knows the time of the database to the millisecond, so a new result
 * may seem to be from the future. One that is far in the future was stored before the clock was set, and counts as old.
 */
function freshForMs({ endedAtMs }: StoredCheck, nowMs: number, everyMs: number): number {
  const ageMs = Math.max(nowMs - endedAtMs, 0)
  return endedAtMs - nowMs < everyMs ? Math.max(everyMs - ageMs, 0) : 0
}
