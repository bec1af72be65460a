import type { Processes } from '../processes.ts'
import { startConsoleOffGateway, startGateway, startLimitedGateway, startPostgresGateway } from './gateway.ts'
import { startNginx } from './nginx.ts'
import { startNodeRelay } from './node-relay.ts'
import type { Peer, PeerName, Surroundings } from './peer.ts'
import { startRelay } from './relay.ts'
import { startUpstream } from './upstream.ts'

/** Undefined if the program of the peer is not installed. */
type Start = (surroundings: Surroundings) => Promise<Peer | undefined>

const starts: Record<Exclude<PeerName, 'direct'>, Start> = {
  relay: surroundings => startRelay('relay', surroundings),
  control: surroundings => startRelay('control', surroundings),
  gateway: startGateway,
  limited: startLimitedGateway,
  postgres: startPostgresGateway,
  'console-off': startConsoleOffGateway,
  nginx: startNginx,
  node: startNodeRelay,
}

/** Starts the mock upstream and the named peers. Peers that are not installed are skipped and logged. */
export async function startPeers(
  names: readonly PeerName[],
  processes: Processes,
  logProgress: (line: string) => void,
): Promise<{ readonly upstream: Peer; readonly peers: readonly Peer[] }> {
  const upstream = await startUpstream(processes)
  const peers: Peer[] = []
  for (const name of names) {
    const peer = name === 'direct' ? upstream : await starts[name]({ processes, upstreamPort: upstream.port })
    if (peer === undefined) logProgress(`${name} is not installed and is skipped.`)
    else peers.push(peer)
  }
  return { upstream, peers }
}
