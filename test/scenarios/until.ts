/** Far longer than anything takes that is asked here, also on a machine that is busy with something else. */
const GIVE_UP_AFTER_MS = 10_000

/** Resolves once `check` says so, asking at each turn of the event loop; throws `what` where it never does. */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = performance.now()
  while (!(await check())) {
    if (performance.now() - startedMs > GIVE_UP_AFTER_MS) throw new Error(`It never came to this: ${what}.`)
    await new Promise(resolve => {
      setImmediate(resolve)
    })
  }
}
