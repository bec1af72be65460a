/** One turn of the event loop: everything that is under way, and waits for nothing outside, has happened after it. */
export function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}
