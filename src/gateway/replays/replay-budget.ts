import type { ReplayBudget } from '../ports/replays.ts'

/** A budget of `bytesMax` bytes. */
export function replayBudget(bytesMax: number): ReplayBudget {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false
      taken += bytes
      return true
    },
    give(bytes) {
      taken -= bytes
    },
    get taken() {
      return taken
    },
  }
}
