import type { StoredCheck } from '../ports/book-checks.ts'
import type { Clock } from '../ports/clock.ts'
import { checkBooks, type CheckPorts, type CheckResult } from './check-books.ts'
import type { SharedChecks } from './shared-checks.ts'

/** The time until a check that could not run is repeated, and until a node looks again while another one checks. */
const RETRY_MS = 60_000

type RegularPorts = CheckPorts & {
  readonly clock: Clock
  readonly sharedChecks?: SharedChecks | undefined
  readonly report: (result: CheckResult) => void
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
