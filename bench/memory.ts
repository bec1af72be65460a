import { openLoad } from './load.ts'
import type { Peer } from './peers/peer.ts'
import { readRssMb } from './proc.ts'
import { slope } from './statistics.ts'
import type { Workload } from './workloads/workload.ts'

export type MemorySample = { readonly requests: number; readonly rssMb: number }

export type MemoryOverTime = {
  readonly peer: Peer['name']
  readonly samples: readonly MemorySample[]
  /** The growth over the second half, by least squares. The first half has start-up, compilation and filling caches. */
  readonly mbPer100000Requests: number
}

const CONNECTIONS = 64
const SAMPLE_EVERY_REQUESTS = 10_000

/** Sends `requests` requests to one peer and samples the memory of its process. */
export async function measureMemory(
  peer: Peer,
  workload: Workload,
  requests: number,
  logProgress: (line: string) => void,
): Promise<MemoryOverTime> {
  const load = await openLoad(peer, workload, CONNECTIONS)
  const samples: MemorySample[] = [{ requests: 0, rssMb: readRssMb(peer.pid) }]
  try {
    for (let sent = 0; sent < requests;) {
      const next = Math.min(SAMPLE_EVERY_REQUESTS, requests - sent)
      await load.run(next)
      sent += next
      samples.push({ requests: sent, rssMb: readRssMb(peer.pid) })
      logProgress(`${peer.name}, ${sent} of ${requests} requests`)
    }
  } finally {
    load.close()
  }
  const secondHalf = samples.filter(sample => sample.requests >= requests / 2)
  const perRequest = slope(secondHalf.map(sample => ({ x: sample.requests, y: sample.rssMb })))
  return { peer: peer.name, samples, mbPer100000Requests: perRequest * 100_000 }
}
