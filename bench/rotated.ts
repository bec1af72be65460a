import type { Peer } from './peers/peer.ts'

/** Starts each round with another peer, so that no peer always runs after the same one. */
export function rotated(peers: readonly Peer[], by: number): readonly Peer[] {
  const start = by % peers.length
  return [...peers.slice(start), ...peers.slice(0, start)]
}
