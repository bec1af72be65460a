import { checkAnswer } from './check-answer.ts'
import { openLoad } from './load.ts'
import type { Peer, PeerName } from './peers/peer.ts'
import { requestsAnswered } from './peers/upstream.ts'
import { cpuUsedMs, readCpu, readRssMb } from './proc.ts'
import { rotated } from './rotated.ts'
import { percentile } from './statistics.ts'
import type { Workload } from './workloads/workload.ts'

/** The measurements of one run of one peer. */
export type Sample = {
  readonly workload: string
  readonly connections: number
  readonly round: number
  readonly peer: PeerName
  /** The CPU time of the peer's process. */
  readonly cpuUsPerRequest: number
  /** The CPU time of the load generator, which is this process. */
  readonly loadCpuUsPerRequest: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly rssMb: number
}

export type Comparison = {
  readonly upstream: Peer
  readonly peers: readonly Peer[]
  readonly workloads: readonly Workload[]
  readonly connections: readonly number[]
  readonly rounds: number
  /** The requests of each run after the warm-up. */
  readonly requests: number
}

/** Before the first run of a peer. Enough for the runtime to compile the hot code. */
const FIRST_WARM_UP_REQUESTS = 10_000
const FIRST_WARM_UP_CONNECTIONS = 64
/** Before each run, on the connections of that run. */
const WARM_UP_REQUESTS = 500

/** Measures every peer in every round, one after another, so that a disturbance of the machine affects all of them. */
export async function compare(
  comparison: Comparison,
  logProgress: (line: string) => void,
): Promise<Sample[]> {
  const { upstream, peers, workloads, connections, rounds, requests } = comparison
  const samples: Sample[] = []
  for (const workload of workloads) {
    for (const peer of peers) {
      await checkAnswer(peer, workload)
      await measure(peer, workload, FIRST_WARM_UP_CONNECTIONS, FIRST_WARM_UP_REQUESTS)
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (const count of connections) {
        logProgress(`${workload.name}, round ${round} of ${rounds}, ${count} connections`)
        for (const peer of rotated(peers, round - 1)) {
          const answeredBefore = await requestsAnswered(upstream.port)
          const measured = await measure(peer, workload, count, requests)
          await assertAllRequestsReachedUpstream(upstream, answeredBefore + WARM_UP_REQUESTS + requests, peer)
          samples.push({ workload: workload.name, connections: count, round, peer: peer.name, ...measured })
        }
      }
    }
  }
  return samples
}

type Measured = Omit<Sample, 'workload' | 'connections' | 'round' | 'peer'>

async function measure(
  peer: Peer,
  workload: Workload,
  connections: number,
  requests: number,
): Promise<Measured> {
  const load = await openLoad(peer, workload, connections)
  try {
    await load.run(WARM_UP_REQUESTS)
    const cpuBefore = readCpu(peer.pid)
    const loadCpuBefore = process.cpuUsage()
    const { seconds, latenciesMs } = await load.run(requests)
    const loadCpu = process.cpuUsage(loadCpuBefore)
    const cpuMs = cpuUsedMs(cpuBefore, readCpu(peer.pid))
    return {
      cpuUsPerRequest: (cpuMs * 1000) / requests,
      loadCpuUsPerRequest: (loadCpu.user + loadCpu.system) / requests,
      requestsPerSecond: requests / seconds,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      rssMb: readRssMb(peer.pid),
    }
  } finally {
    load.close()
  }
}

async function assertAllRequestsReachedUpstream(upstream: Peer, expected: number, peer: Peer): Promise<void> {
  const answered = await requestsAnswered(upstream.port)
  if (answered !== expected) {
    throw new Error(`${peer.name}: the upstream answered ${answered} requests. Expected ${expected}.`)
  }
}
