import { accepts, freePort, type Processes } from '../processes.ts'
import type { Peer } from './peer.ts'

/** Starts the mock upstream. As a peer, it is `direct`: no server in between. */
export async function startUpstream(processes: Processes): Promise<Peer> {
  const port = freePort()
  const running = processes.start({
    name: 'upstream',
    command: [process.execPath, `${import.meta.dir}/upstream-process.ts`, String(port)],
  })
  await running.ready(() => accepts(port))
  return { name: 'direct', pid: running.pid, port, headers: {} }
}

/** The number of requests that the upstream has answered since it started. */
export async function requestsAnswered(upstreamPort: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${upstreamPort}/answered`)
  return Number(await response.text())
}
