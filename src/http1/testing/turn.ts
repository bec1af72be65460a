/** Waits for one turn of the event loop, after which all work that does not wait for I/O is done. */
export function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}

/** Waits for so many turns. */
export async function turns(count: number): Promise<void> {
  for (let waited = 0; waited < count; waited += 1) await turn()
}
