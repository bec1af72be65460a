/** Much longer than any check needs, even on a busy machine. */
const GIVE_UP_AFTER_MS = 10_000

/** Resolves when `check` returns true; checks on every turn of the event loop. Throws `what` if it never does. */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = performance.now()
  while (!(await check())) {
    if (performance.now() - startedMs > GIVE_UP_AFTER_MS) throw new Error(`It never came to this: ${what}.`)
    await new Promise(resolve => {
      setImmediate(resolve)
    })
  }
}
