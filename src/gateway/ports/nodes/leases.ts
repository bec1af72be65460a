/**
 * Leases for work that one node at a time should do. The work must be safe without the lease, because a lease can run
 * out.
 */
export interface Leases {
  /** Takes the lease with this name for `ttlMs`. Undefined if another holder has it, on this node or on another. */
  take(name: string, ttlMs: number): Promise<Lease | undefined>
}

export type Lease = {
  /**
   * Lets the lease end in `ttlMs` from now, also if it has run out meanwhile. False if another holder took it, or if it
   * was released: it then stays so.
   */
  renew(ttlMs: number): Promise<boolean>
  /** Ends the lease early. Repeating it, or releasing a lease that has run out, changes nothing. */
  release(): Promise<void>
}
