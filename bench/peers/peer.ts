import type { Processes } from '../processes.ts'

export const peerNames = ['direct', 'relay', 'control', 'gateway', 'nginx'] as const
/**
 * Who answers the load: the mock upstream itself, the bare relay, a second bare relay (how far its ratio is from 1 is the
 * noise of the run), the gateway, nginx.
 */
export type PeerName = (typeof peerNames)[number]

/** A server that is ready for load, and the process whose processor time and memory are measured. */
export type Peer = {
  readonly name: PeerName
  readonly pid: number
  readonly port: number
  /** Sent with each request, by name. */
  readonly headers: Readonly<Record<string, string>>
  /** The header that each reply must carry. */
  readonly costHeader?: string
}

/** What a peer needs to start. */
export type Surroundings = { readonly processes: Processes; readonly upstreamPort: number }
