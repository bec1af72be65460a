import { isDeepStrictEqual } from 'node:util'
import { askOnce } from './ask-once.ts'
import type { Peer } from './peers/peer.ts'
import { requestFor, type Workload } from './workloads/workload.ts'

type Answer = { model?: unknown; usage?: { cost_usd?: unknown } }

/**
 * Asks once and compares the whole answer, since the load looks at heads only. What a gateway may change is the model's
 * name and the cost or, where it converts, all; and then that must be right. Throws what differs.
 */
export async function checkAnswer(peer: Peer, workload: Workload): Promise<void> {
  const request = requestFor(peer, workload)
  const { headers, text } = await askOnce(peer, request)
  const cost = peer.costHeader === undefined ? null : headers.get(peer.costHeader)
  if (!isExpected(text, cost, workload)) {
    throw new Error(`${peer.name} did not pass on the answer to ${request.path}, but said: ${text}`)
  }
}

/** A cost of null is none at all: the peer is no gateway. */
function isExpected(text: string, cost: string | null, { answer, model, converted }: Workload): boolean {
  if (cost !== null && converted !== undefined) return text === converted.expected(cost)
  const expected: Answer = JSON.parse(answer)
  if (cost !== null) {
    expected.model = model
    expected.usage = { ...expected.usage, cost_usd: cost }
  }
  return isDeepStrictEqual(JSON.parse(text), expected)
}
