import type { Peer } from './peers/peer.ts'

/** The peers from another one on in each round, so that none always runs after the same neighbour. */
export function rotated(peers: readonly Peer[], by: number): readonly Peer[] {
  const start = by % peers.length
  return [...peers.slice(start), ...peers.slice(0, start)]
}
