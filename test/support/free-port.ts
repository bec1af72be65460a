import { createServer } from 'node:net'

/** Below the ports that Linux chooses for sockets without one, so that a server which restarts finds its port free. */
const PORTS = { from: 20_000, count: 12_000 }

/** A port of the loopback interface that no program listens on. */
export function freePort(): Promise<number> {
  const port = PORTS.from + Math.floor(Math.random() * PORTS.count)
  const probe = createServer()
  const { promise, resolve } = Promise.withResolvers<number>()
  probe.once('error', () => resolve(freePort()))
  probe.listen(port, '127.0.0.1', () => void probe.close(() => resolve(port)))
  return promise
}
