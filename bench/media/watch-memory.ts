import type { Peer } from '../peers/peer.ts'
import { readRssMb } from '../proc.ts'

const SAMPLE_EVERY_MS = 100

export type MemoryUse = { readonly rssBeforeMb: number; readonly rssMaxMb: number }

/** Samples the memory of a peer while `work` runs. */
export async function watchMemory<Result>(
  { pid }: Peer,
  work: () => Promise<Result>,
): Promise<MemoryUse & { readonly result: Result }> {
  const rssBeforeMb = readRssMb(pid)
  let rssMaxMb = rssBeforeMb
  const timer = setInterval(() => {
    rssMaxMb = Math.max(rssMaxMb, readRssMb(pid))
  }, SAMPLE_EVERY_MS)
  try {
    const result = await work()
    return { rssBeforeMb, rssMaxMb, result }
  } finally {
    clearInterval(timer)
  }
}
