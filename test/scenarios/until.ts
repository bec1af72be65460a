const TRIES_MAX = 2000

/** Resolves once `check` says so, asking at each turn of the event loop; throws `what` where it never does. */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (await check()) return
    await new Promise(resolve => {
      setImmediate(resolve)
    })
  }
  throw new Error(`It never came to this: ${what}.`)
}
