/** The gateways that share one set of books. */
export interface Nodes {
  /**
   * Those that were not stopped, in the order of their lanes. One that was killed stays until another takes its lane.
   */
  list(): Promise<readonly RunningNode[]>
}

export type RunningNode = {
  readonly name: string
  /** Of the gateway. */
  readonly version: string
  /** True if the books were changed for newer gateways, so that it begins no paid work. */
  readonly isTooOld: boolean
  /** What it writes through. Null in SQLite, where one process has all books. */
  readonly lane: { readonly number: number; readonly epoch: number } | null
  /** When it last wrote. */
  readonly seenAtMs: number
  /**
   * How far its clock is ahead of the database's, as of the last minute. Null before it is known, and in SQLite.
   */
  readonly clockOffsetMs: number | null
  /** The open holds of text requests. Null in SQLite, where they are in the memory of the process. */
  readonly textHolds: number | null
}
