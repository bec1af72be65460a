/** The gateways that share one set of books. */
export interface Nodes {
  /**
   * Those that were not stopped, in the order of their lanes. One that was killed stays until another takes its lane.
   */
  list(): Promise<readonly RunningNode[]>
}

/** A node that wrote nothing for so long was killed, or is cut off. */
const SILENT_MS = 120_000

/** Whether a node has not been seen for so long that it probably does not run. */
export function isSilent({ seenAtMs }: Pick<RunningNode, 'seenAtMs'>, nowMs: number): boolean {
  return nowMs - seenAtMs >= SILENT_MS
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
