/** The reason of a rejected promise. Fails if the promise is not rejected. */
export async function rejection(promise: unknown): Promise<unknown> {
  const [outcome] = await Promise.allSettled([promise])
  if (outcome.status === 'fulfilled') throw new Error(`Expected a rejection, got ${String(outcome.value)}.`)
  return outcome.reason
}
