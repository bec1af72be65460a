import { isDeepStrictEqual } from 'node:util'
import type { Peer } from './peers/peer.ts'
import { MODEL, type Workload } from './workloads/workload.ts'

type Answer = { model?: unknown; usage?: { cost_usd?: unknown } }

/**
 * Asks once and compares the whole answer, since the load looks at heads only. What a gateway may change is the model's
 * name and the cost, and both must then be right. Throws what differs.
 */
export async function checkAnswer(peer: Peer, { path, body, answer }: Workload): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${peer.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...peer.headers },
    body: `${body.before}of the check ${crypto.randomUUID()}${body.after}`,
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${peer.name} answered ${response.status}: ${text}`)
  const expected: Answer = JSON.parse(answer)
  if (peer.costHeader !== undefined) {
    expected.model = MODEL
    expected.usage = { ...expected.usage, cost_usd: response.headers.get(peer.costHeader) }
  }
  if (!isDeepStrictEqual(JSON.parse(text), expected)) {
    throw new Error(`${peer.name} did not pass on the answer to ${path}, but said: ${text}`)
  }
}
