/** What a promise was rejected with. Fails where it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([promise])
  if (outcome.status === 'fulfilled') throw new Error(`Expected a rejection, got ${String(outcome.value)}.`)
  return outcome.reason
}
