import { openLoad } from '../load.ts'
import type { Options } from '../options.ts'
import type { Peer } from '../peers/peer.ts'
import { cpuUsedMs, readCpu } from '../proc.ts'
import { chat } from '../workloads/chat.ts'
import { aroundNumber, type Workload } from '../workloads/workload.ts'
import { IMAGE_MODEL, type MediaServers } from './start-media.ts'

/** One run of requests of the gateway. */
export type JobSample = {
  readonly request: 'chat' | 'image'
  readonly connections: number
  readonly requestsPerSecond: number
  readonly cpuUsPerRequest: number
}

const WARM_UP_REQUESTS = 2000

/** An image without references: created, submitted, settled and sent back within one request. */
const image: Workload = {
  name: 'image',
  path: '/v1/images/generations',
  model: IMAGE_MODEL,
  body: aroundNumber(`{"model":"${IMAGE_MODEL}","prompt":"A lighthouse at dawn, number {number}"}`),
  answer: '',
}

/** Image jobs and chat requests on the same gateway, one after the other in each round. */
export async function measureJobs(
  { gateway }: MediaServers,
  { rounds, requests, connections }: Pick<Options, 'rounds' | 'requests' | 'connections'>,
  logProgress: (line: string) => void,
): Promise<JobSample[]> {
  // The reply to an image request has its cost in the body.
  const { costHeader: _cost, ...imageGateway } = gateway
  const samples: JobSample[] = []
  await run(gateway, chat, 64, WARM_UP_REQUESTS)
  await run(imageGateway, image, 64, WARM_UP_REQUESTS)
  for (let round = 1; round <= rounds; round += 1) {
    for (const count of connections) {
      logProgress(`jobs, round ${round} of ${rounds}, ${count} connections`)
      const chats = await run(gateway, chat, count, requests)
      const images = await run(imageGateway, image, count, requests)
      samples.push({ request: 'chat', connections: count, ...chats })
      samples.push({ request: 'image', connections: count, ...images })
    }
  }
  return samples
}

async function run(
  peer: Peer,
  workload: Workload,
  connections: number,
  requests: number,
): Promise<Pick<JobSample, 'requestsPerSecond' | 'cpuUsPerRequest'>> {
  const load = await openLoad(peer, workload, connections)
  try {
    const before = readCpu(peer.pid)
    const { seconds } = await load.run(requests)
    const cpuMs = cpuUsedMs(before, readCpu(peer.pid))
    return { requestsPerSecond: requests / seconds, cpuUsPerRequest: (cpuMs * 1000) / requests }
  } finally {
    load.close()
  }
}
