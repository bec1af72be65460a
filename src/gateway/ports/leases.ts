/** Work that should be done by one node at a time. Whatever is done under a lease must be safe without it: it may run out. */
export interface Leases {
  /** Takes the lease of that name for `ttlMs`. Undefined while another taker has it, on this node or on another. */
  take(name: string, ttlMs: number): Promise<Lease | undefined>
}

export type Lease = {
  /** Gives it back before its time. Repeating it, or giving back one that has run out, changes nothing. */
  release(): Promise<void>
}
