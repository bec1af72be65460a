import type { StoredCheck } from '../ports/ledger/book-checks.ts'
import type { Clock } from '../ports/clock.ts'
import type { BooksGuard } from './books-guard.ts'
import {
  checkEarlierRows,
  checkRecentRows,
  checkWhileStopped,
  type CheckPorts,
  type CheckResult,
} from './check-books.ts'
import type { SharedChecks } from './shared-checks.ts'

/** The time until a check that could not run is repeated, and until a node looks again while another one checks. */
const RETRY_MS = 60_000

/** The interval of full checks, and of attempts at one: it can take longer than the database allows. */
const FULL_EVERY_MS = 86_400_000

type RegularPorts = Omit<CheckPorts, 'guard' | 'clock' | 'sharedChecks'> & {
  readonly guard: CheckPorts['guard'] & Pick<BooksGuard, 'affected' | 'hasFoundProblem' | 'lastCheck'>
  readonly clock: Clock
  readonly sharedChecks?: SharedChecks | undefined
  readonly report: (result: CheckResult) => void
  readonly onFailed: (error: unknown) => void
  /** A full check that could not run, while the recent rows are checked. */
  readonly onFullFailed: (error: unknown) => void
}

/**
 * Checks the books now, and again `everyMs` after each check. Reports each result. A check that cannot run is reported
 * as failed, and repeated after a minute. Of several nodes that share the books, one checks for all. Returns a function
 * that stops it.
 *
 * What was written since the last sound check is checked each time. All rows are checked if the last check found a
 * problem, and after the recent ones if the last full check is a day old. If this cannot run, the recent rows count:
 * the accounts that are stopped stay stopped, and the others are not.
 */
export function checkBooksRegularly(ports: RegularPorts, everyMs: number): () => void {
  const { clock, sharedChecks, onFailed } = ports
  const checks = new RegularChecks(ports)
  let cancel = () => {}
  const check = async () => {
    let nextMs = everyMs
    try {
      if (sharedChecks === undefined) await checks.checkNow()
      else nextMs = await checkInTurn({ sharedChecks, clock, checkNow: () => checks.checkNow() }, everyMs)
    } catch (error) {
      nextMs = RETRY_MS
      if (!checks.isStopped) onFailed(error)
    }
    if (!checks.isStopped) cancel = clock.after(nextMs, () => void check())
  }
  void check()
  return () => {
    checks.isStopped = true
    cancel()
    void sharedChecks?.endTurn()
  }
}

class RegularChecks {
  isStopped = false
  readonly #ports: RegularPorts
  /** When this node last began a full check after the recent rows. */
  #fullTriedMs: number | undefined

  constructor(ports: RegularPorts) {
    this.#ports = ports
  }

  async checkNow(): Promise<void> {
    const { guard, onFullFailed } = this.#ports
    const result = guard.hasFoundProblem
      ? await checkWhileStopped(this.#ports, guard.affected)
      : await checkRecentRows(this.#ports)
    this.#report(result)
    if (this.isStopped) return
    if (result.fullFailure !== undefined) onFullFailed(result.fullFailure)
    else if (result.isRecent && this.#isFullDue()) await this.#checkAll()
  }

  #isFullDue(): boolean {
    const { guard, clock } = this.#ports
    const isTried = this.#fullTriedMs !== undefined && clock.monotonicMs() - this.#fullTriedMs < FULL_EVERY_MS
    const fullAtMs = guard.lastCheck?.fullAtMs
    return !isTried && (fullAtMs === undefined || freshForMs(fullAtMs, clock.now(), FULL_EVERY_MS) === 0)
  }

  async #checkAll(): Promise<void> {
    const { clock, onFullFailed } = this.#ports
    this.#fullTriedMs = clock.monotonicMs()
    try {
      this.#report(await checkEarlierRows(this.#ports))
    } catch (error) {
      if (!this.isStopped) onFullFailed(error)
    }
  }

  #report(result: CheckResult): void {
    if (!this.isStopped) this.#ports.report(result)
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
    const last: StoredCheck | undefined = await sharedChecks.adoptLast()
    if (!hasTurn) return RETRY_MS
    const freshMs = last === undefined ? 0 : freshForMs(last.endedAtMs, clock.now(), everyMs)
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
function freshForMs(endedAtMs: number, nowMs: number, everyMs: number): number {
  const ageMs = Math.max(nowMs - endedAtMs, 0)
  return endedAtMs - nowMs < everyMs ? Math.max(everyMs - ageMs, 0) : 0
}
