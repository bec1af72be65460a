/** Clocks that are set by NTP differ by milliseconds. */
const OFFSET_MS_MAX = 5000

/**
 * A sentence for the operator if the clock of this machine is more than five seconds off the database's. `offsetMs` is
 * how far it is ahead. Nothing that is stored is wrong then, because all gateways use the time of the database.
 */
export function clockProblem(offsetMs: number): string | undefined {
  if (Math.abs(offsetMs) <= OFFSET_MS_MAX) return undefined
  const seconds = (Math.abs(offsetMs) / 1000).toFixed(1)
  return (
    `The clock of this machine is ${seconds} s ${offsetMs < 0 ? 'behind' : 'ahead of'} the database's. ` +
    'Limits, expiries and the books have the time of the database, but signatures for webhooks, the bucket and some ' +
    'providers have that of this machine and may be refused. Set both clocks by NTP.'
  )
}
