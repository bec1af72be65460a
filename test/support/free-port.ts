import { createServer, type Server } from 'node:net'

/** Below the ports that Linux chooses for sockets without one, so that a server which restarts finds its port free. */
const FIRST_PORT = 20_000
const BLOCK_PORTS = 100
const BLOCKS = 120

/** The ports of a block after its first, which this process holds, so that no other test run gives out any of them. */
let ports: Promise<Iterator<number>> | undefined

/**
 * A port of the loopback interface that no program listens on. It is given out once, also while its server is down to
 * be started again.
 */
export async function freePort(): Promise<number> {
  const block = (ports ??= claimBlock())
  const { value: port, done } = (await block).next()
  if (done === true) {
    if (ports === block) ports = undefined
    return freePort()
  }
  const probe = await listener(port)
  if (probe === undefined) return freePort()
  await new Promise(resolve => probe.close(resolve))
  return port
}

async function claimBlock(): Promise<Iterator<number>> {
  for (let tries = 0; tries < BLOCKS; tries += 1) {
    const first = FIRST_PORT + ((process.pid + tries) % BLOCKS) * BLOCK_PORTS
    const held = await listener(first)
    if (held === undefined) continue
    held.unref()
    return Array.from({ length: BLOCK_PORTS - 1 }, (_, index) => first + 1 + index).values()
  }
  throw new Error(`Other programs listen on the first port of each block from ${FIRST_PORT}.`)
}

/** Undefined if another program listens there. */
function listener(port: number): Promise<Server | undefined> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
