import type { Processes } from '../processes.ts'

export const peerNames = [
  'direct',
  'relay',
  'control',
  'gateway',
  'limited',
  'postgres',
  'console-off',
  'nginx',
  'node',
] as const
/**
 * The servers to compare: the mock upstream itself, the bare relay, a second bare relay (the distance of its ratio from
 * 1 is the noise of the run), the gateway, a gateway whose account and key have limits and budgets, a gateway with its
 * books in PostgreSQL, a gateway without its console, nginx, and a relay with node:http.
 */
export type PeerName = (typeof peerNames)[number]

/** A running server, and the process whose CPU time and memory are measured. */
export type Peer = {
  readonly name: PeerName
  readonly pid: number
  readonly port: number
  /** The headers of each request, by name. */
  readonly headers: Readonly<Record<string, string>>
  /** The header that each reply must have. */
  readonly costHeader?: string
}

/** The options for starting a peer. */
export type Surroundings = { readonly processes: Processes; readonly upstreamPort: number }
