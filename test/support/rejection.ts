/** What a promise was rejected with. Fails where it was not, and where there is none. */
export async function rejection(promise: unknown): Promise<unknown> {
  const [outcome] = await Promise.allSettled([promise])
  if (outcome.status === 'fulfilled') throw new Error(`Expected a rejection, got ${String(outcome.value)}.`)
  return outcome.reason
}
