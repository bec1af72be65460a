/** Lets the event loop go round so many times: what waits for nothing but its turn has had it by then. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise(resolve => {
      setImmediate(resolve)
    })
  }
}
