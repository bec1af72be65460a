import { accepts, freePort } from '../processes.ts'
import type { Peer, Surroundings } from './peer.ts'

/** Starts a bare relay. Two relays with different names show the noise of the run. */
export async function startRelay(
  name: 'relay' | 'control',
  { processes, upstreamPort }: Surroundings,
): Promise<Peer> {
  const port = freePort()
  const running = processes.start({
    name,
    command: [process.execPath, `${import.meta.dir}/relay-process.ts`, String(port), String(upstreamPort)],
  })
  await running.ready(() => accepts(port))
  return { name, pid: running.pid, port, headers: {} }
}
