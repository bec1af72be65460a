import { isDeepStrictEqual } from 'node:util'
import { askOnce } from './ask-once.ts'
import type { Peer } from './peers/peer.ts'
import { requestFor, type Workload } from './workloads/workload.ts'

type Answer = { model?: unknown; usage?: { cost_usd?: unknown } }

/**
 * Sends one request and compares the whole answer, because the load checks only heads. A gateway may change the model
 * name and the cost. If it converts the request, the converted answer is compared. Throws if the answer differs.
 */
export async function checkAnswer(peer: Peer, workload: Workload): Promise<void> {
  const request = requestFor(peer, workload)
  const { headers, text } = await askOnce(peer, request)
  const cost = peer.costHeader === undefined ? null : headers.get(peer.costHeader)
  if (!isExpected(text, cost, workload)) {
    throw new Error(`${peer.name} changed the answer to ${request.path}: ${text}`)
  }
}

/** `cost` is null if the peer is not a gateway. */
function isExpected(text: string, cost: string | null, { answer, model, converted }: Workload): boolean {
  if (cost !== null && converted !== undefined) return text === converted.expected(cost)
  const expected: Answer = JSON.parse(answer)
  if (cost !== null) {
    expected.model = model
    expected.usage = { ...expected.usage, cost_usd: cost }
  }
  return isDeepStrictEqual(JSON.parse(text), expected)
}
