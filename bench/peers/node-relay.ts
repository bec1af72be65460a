import { accepts, freePort } from '../processes.ts'
import { MODEL } from '../workloads/workload.ts'
import type { Peer, Surroundings } from './peer.ts'

/** Starts a relay with node:http under Node.js. */
export async function startNodeRelay({ processes, upstreamPort }: Surroundings): Promise<Peer> {
  const port = freePort()
  const file = `${import.meta.dir}/node-relay-process.mjs`
  const running = processes.start({
    name: 'node',
    command: ['node', file, String(port), String(upstreamPort), MODEL, processes.folder],
  })
  await running.ready(() => accepts(port))
  return { name: 'node', pid: running.pid, port, headers: {} }
}
