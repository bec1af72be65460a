import type { Peer, PeerName } from '../peers/peer.ts'
import { cpuUsedMs, readCpu, readRssMb } from '../proc.ts'
import { rotated } from '../rotated.ts'
import { percentile } from '../statistics.ts'
import { paces, streamFrames, type StreamWorkload } from '../workloads/streams.ts'
import { checkStream } from './check-stream.ts'
import { openStreamLoad } from './stream-load.ts'

/** The measurements of one run of one peer. */
export type StreamSample = {
  readonly workload: string
  readonly round: number
  readonly peer: PeerName
  /** The CPU time of the peer's process, including the start and the end of its requests. */
  readonly cpuUsPerChunk: number
  readonly chunksPerSecond: number
  readonly readsPerChunk: number
  readonly firstTokenP50Ms: number
  readonly firstTokenP99Ms: number
  readonly rssMb: number
}

export type StreamComparison = {
  readonly peers: readonly Peer[]
  readonly workloads: readonly StreamWorkload[]
  readonly connections: number
  readonly rounds: number
  /** The streams of each run after the warm-up. */
  readonly streams: number
}

/** Before the first run of a peer, so that the hot code is compiled, and before each run on its connections. */
const FIRST_WARM_UP_ROUNDS = 4

/** Measures every peer in every round, one after another, so that a disturbance of the machine affects all of them. */
export async function compareStreams(
  { peers, workloads, connections, rounds, streams }: StreamComparison,
  logProgress: (line: string) => void,
): Promise<StreamSample[]> {
  const samples: StreamSample[] = []
  for (const workload of workloads) {
    for (const peer of peers) {
      await checkStream(peer, workload)
      await measure(peer, workload, connections, connections * FIRST_WARM_UP_ROUNDS)
    }
    for (let round = 1; round <= rounds; round += 1) {
      logProgress(`${workload.name}, round ${round} of ${rounds}, ${connections} connections`)
      for (const peer of rotated(peers, round - 1)) {
        const measured = await measure(peer, workload, connections, streams)
        samples.push({ workload: workload.name, round, peer: peer.name, ...measured })
      }
    }
  }
  return samples
}

async function measure(peer: Peer, workload: StreamWorkload, connections: number, streams: number) {
  const load = await openStreamLoad(peer, workload, connections)
  try {
    await load.run(connections)
    const cpuBefore = readCpu(peer.pid)
    const { seconds, firstTokenMs, readsPerStream } = await load.run(streams)
    const cpuMs = cpuUsedMs(cpuBefore, readCpu(peer.pid))
    const chunksPerStream = streamFrames(paces[workload.pace].tokens).length
    const chunks = streams * chunksPerStream
    return {
      cpuUsPerChunk: (cpuMs * 1000) / chunks,
      chunksPerSecond: chunks / seconds,
      readsPerChunk: readsPerStream / chunksPerStream,
      firstTokenP50Ms: percentile(firstTokenMs, 0.5),
      firstTokenP99Ms: percentile(firstTokenMs, 0.99),
      rssMb: readRssMb(peer.pid),
    }
  } finally {
    load.close()
  }
}
