import { accepts, freePort } from '../processes.ts'
import type { Peer, Surroundings } from './peer.ts'

/** Starts a bare relay. Two of them, under two names, show how much two equal servers differ in this run. */
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
