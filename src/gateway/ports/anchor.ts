import type { ChainEnd } from '../../domain/ledger/anchor.ts'

/** A small file outside of the database, which names the last commit. It shows whether the database lost commits. */
export interface AnchorFile {
  /** Where it is, for messages to the operator. */
  readonly path: string
  /** Undefined if there is no such file. Rejects if it cannot be read or is not an anchor. */
  read(): Promise<ChainEnd | undefined>
  /** Replaces the anchor in one step; durable when it resolves. */
  write(end: ChainEnd): Promise<void>
}

/** The commits of this node. */
export interface CommitChain {
  /** The last commit that is durable; undefined if there is none. */
  end(): ChainEnd | undefined
  /** The hash of a commit in hexadecimal digits; undefined if there is no commit with this number. */
  hashOf(number: number): string | undefined
  /**
   * Calls `listener` after each commit that extends this node's chain, before the callers get their results. A store
   * that is read then has the commit. `listener` must not throw: the callers would be told that their commit failed.
   */
  onCommit(listener: () => void): void
}
