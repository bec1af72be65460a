/** A `fetch` that makes the sandbox stream as fast as possible. Clients have no option for that. */
export const unpaced = ((input: Parameters<typeof fetch>[0], init?: RequestInit) => {
  const body = { ...(JSON.parse(init?.body as string) as object), sandbox: { pace_ms: 0 } }
  return fetch(input, { ...init, body: JSON.stringify(body) })
}) as typeof fetch
