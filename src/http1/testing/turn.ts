/** Waits for one turn of the event loop, after which all work that does not wait for I/O is done. */
export function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}
