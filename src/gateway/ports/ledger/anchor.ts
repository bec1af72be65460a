import type { Anchor, ChainEnd } from '../../../domain/ledger/anchor.ts'

/**
 * A small file outside of the database, which names the last commit of each chain. It shows whether the database lost
 * commits.
 */
export interface AnchorFile {
  /** Where it is, for messages to the operator. */
  readonly path: string
  /** Undefined if there is no such file. Rejects with `NotAnAnchorError` for other content, or if it cannot be read. */
  read(): Promise<Anchor | undefined>
  /**
   * Replaces the anchor in one step; durable when it resolves. `anchor` names at least one chain. A file that several
   * nodes write rejects with `AnchorReplacedError` if it is not the one that this process read or wrote last.
   */
  write(anchor: Anchor): Promise<void>
}

/** The file has other content than an anchor. */
export class NotAnAnchorError extends Error {}

/** Another node wrote the anchor, or removed it, after this process read or wrote it. */
export class AnchorReplacedError extends Error {}

/** The chains of commits of a store: one for each node that writes into it. */
export interface CommitChains {
  /** The last durable commit of each chain that has one. */
  ends(): Promise<Anchor>
  /** The hash of a commit in hexadecimal digits; undefined if there is no such commit. */
  hashOf(commit: Pick<ChainEnd, 'node' | 'number'>): Promise<string | undefined>
  /**
   * Calls `listener` after each commit that extends this node's chain, before the callers get their results. A store
   * that is read then has the commit. `listener` must not throw: the callers would be told that their commit failed.
   */
  onCommit(listener: () => void): void
}
