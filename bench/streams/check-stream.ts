import { askOnce } from '../ask-once.ts'
import type { Peer } from '../peers/peer.ts'
import { UPSTREAM_MODEL } from '../workloads/workload.ts'
import { paces, streamFrames, streamModel, type StreamWorkload } from '../workloads/streams.ts'
import { requestKind } from './stream-load.ts'

/**
 * Sends one request and compares the whole stream, because the load checks only its ends. With usage, the gateway must
 * set the model name in every chunk and the cost in the last one. Otherwise, every byte must be the upstream's. Throws
 * if it differs.
 */
export async function checkStream(peer: Peer, workload: StreamWorkload): Promise<void> {
  const { text } = await askOnce(peer, requestKind(peer, workload))
  const sent = streamFrames(paces[workload.pace].tokens).join('')
  const isRewritten = (peer.name === 'gateway' || peer.name === 'limited') && workload.includeUsage
  const expected = isRewritten
    ? sent.replaceAll(`"model":"${UPSTREAM_MODEL}"`, `"model":"${streamModel(workload.pace)}"`)
    : sent
  const shown = isRewritten ? text.replace(/,"cost_usd":"[0-9.]+"/, '') : text
  if (isRewritten && shown === text) throw new Error(`${peer.name} sent no cost.`)
  if (shown !== expected) throw new Error(`${peer.name} changed the stream: ${text}`)
}
