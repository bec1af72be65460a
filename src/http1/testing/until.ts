import { turn } from './turn.ts'

/** Much longer than any check within a running process needs, even on a busy machine. */
const GIVE_UP_AFTER_MS = 30_000
/** For checks that wait for the start of a process. It takes many seconds on a machine that is very busy. */
export const PROCESS_START_MS_MAX = 300_000

/**
 * Resolves when `check` returns true; checks on every turn of the event loop. Throws `what` if that takes longer than
 * `giveUpAfterMs`.
 */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): Promise<void> {
  const startedMs = performance.now()
  while (!(await check())) {
    if (performance.now() - startedMs > giveUpAfterMs) throw new Error(`It never came to this: ${what}.`)
    await turn()
  }
}
