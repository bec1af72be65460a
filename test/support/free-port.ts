import { createServer } from 'node:net'

/** Below the ports that Linux chooses for sockets without one, so that a server which restarts finds its port free. */
const PORTS = { from: 20_000, count: 12_000 }
/** `bun test --parallel` numbers its processes from 1. Each has ports of its own, up to this number. */
const PROCESSES_MAX = 8
const OWN_COUNT = PORTS.count / PROCESSES_MAX

const ownFrom = PORTS.from + (Number(process.env['BUN_TEST_WORKER_ID'] ?? 1) % PROCESSES_MAX) * OWN_COUNT
/** Another run of the tests on this machine begins at another port. */
let next = Math.floor(Math.random() * OWN_COUNT)

/** A port of the loopback interface that no program listens on, and that this process has not got for long. */
export function freePort(): Promise<number> {
  const port = ownFrom + (next++ % OWN_COUNT)
  const probe = createServer()
  const { promise, resolve } = Promise.withResolvers<number>()
  probe.once('error', () => resolve(freePort()))
  probe.listen(port, '127.0.0.1', () => void probe.close(() => resolve(port)))
  return promise
}
