import type { Peer } from './peers/peer.ts'
import type { RequestKind } from './workloads/workload.ts'

/** Sends one unique request and reads the whole answer. Throws if the status is not 200. */
export async function askOnce(
  peer: Peer,
  { path, body }: RequestKind,
): Promise<{ readonly headers: Headers; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${peer.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...peer.headers },
    body: `${body.before}of the check ${crypto.randomUUID()}${body.after}`,
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${peer.name} answered ${response.status}: ${text}`)
  return { headers: response.headers, text }
}
