import type { Config } from '../../config/config.ts'
import type { Anchoring } from '../../gateway/admin/operating/verify-books.ts'
import { BooksGuard } from '../../gateway/books/books-guard.ts'
import { SharedChecks } from '../../gateway/books/shared-checks.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Nodes } from '../../gateway/ports/nodes/nodes.ts'
import type { StoreNode } from '../../gateway/ports/nodes/store-node.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import type { DataFolder } from '../data-folder.ts'

/** The node of this process, with its store. */
export type Node = Omit<StoreNode, 'close' | 'commitChains'> & {
  readonly nodes: Nodes
  /** The time for all instants that are stored or compared with them. The database's, if there is one. */
  readonly clock: Clock
  /** How far the clock of this machine is ahead of `clock`. Negative if it is behind. */
  readonly clockOffsetMs: () => number
  /** Rejects if the store cannot be read or written. */
  readonly probe: () => Promise<void>
  /** A sentence for the operator about the store, which will stop the gateway. Undefined if there is nothing. */
  readonly problem: () => Promise<string | undefined>
  /** A sentence for the operator about the store, which stops nothing. Undefined if there is nothing. */
  readonly warning: () => Promise<string | undefined>
  /** Work for all nodes that one of them must do every few minutes. Undefined if there is none. */
  readonly upkeep: (() => Promise<void>) | undefined
  readonly anchor: Anchoring
  readonly guard: BooksGuard
  /** Undefined if no other node can share the books. */
  readonly sharedChecks: SharedChecks | undefined
  /** False while the store cannot be written. */
  readonly isWritable: () => boolean
  /** The number of writes of the anchor that failed. */
  readonly anchorFailures: () => number
  /** Commits what waits, writes the anchor and releases the data folder. */
  readonly close: () => Promise<void>
}

export type NodeParts = {
  readonly config: Config
  readonly folder: DataFolder
  /** Of this machine. */
  readonly clock: Clock
  /** The client that reaches the bucket. */
  readonly http: HttpClient
  /** For a command without a server. */
  readonly isOffline: boolean
  /** Called for each failed write of the anchor. */
  readonly onAnchorFailed: (error: unknown) => void
  /** Called for each new problem of the store that the operator should know. */
  readonly onStoreProblem: (problem: string) => void
}
