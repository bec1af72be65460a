import { turn } from './turn.ts'

/** Much longer than any check within a running process needs, even on a busy machine. */
const GIVE_UP_AFTER_MS = 30_000
/** What this process waits for needs this many turns at most. */
const TURNS_AT_ONCE = 100
/** Afterwards it waits for this part of the time that has passed, up to a limit. */
const PAUSE_PART = 1 / 20
const PAUSE_MS_MAX = 25
/** For checks that wait for the start of a process. It takes many seconds on a machine that is very busy. */
export const PROCESS_START_MS_MAX = 300_000

/**
 * Resolves when `check` returns true. It checks on every turn of the event loop, and after many turns with pauses that
 * grow, to leave the processor to the other processes that it then waits for. Throws `what` if that takes longer than
 * `giveUpAfterMs`.
 */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): Promise<void> {
  const startedMs = performance.now()
  for (let turns = 1; !(await check()); turns += 1) {
    const passedMs = performance.now() - startedMs
    if (passedMs > giveUpAfterMs) throw new Error(`It never came to this: ${what}.`)
    if (turns <= TURNS_AT_ONCE) await turn()
    else await new Promise(resolve => setTimeout(resolve, Math.min(passedMs * PAUSE_PART, PAUSE_MS_MAX)))
  }
}
