import type { Database, Statement } from 'bun:sqlite'
import type { ChainEnd } from '../../../domain/ledger/anchor.ts'
import { NO_HASH } from '../../books/rows/commit-rows.ts'

type Link = { readonly nodeId: bigint; readonly number: number; readonly hash: Uint8Array }

type Found = {
  readonly name: string
  readonly nodeId: bigint | undefined
  readonly latest: Link | undefined
}

/** The end of a node's chain of commits. Its name stays the same over restarts, and so does its chain. */
export class NodeChain {
  readonly name: string
  readonly #selectHash: Statement<{ hash: Uint8Array }, [bigint, number]>
  #nodeId: bigint | undefined
  #latest: Link | undefined
  /** The link of the running transaction. */
  #staged: Link | undefined
  readonly #listeners: (() => void)[] = []
  /** True between a commit and its report to the listeners. */
  #isUnreported = false

  private constructor(database: Database, { name, nodeId, latest }: Found) {
    this.name = name
    this.#nodeId = nodeId
    this.#latest = latest
    // The newest first: the anchor names one of the last commits.
    this.#selectHash = database.prepare(
      'SELECT hash FROM commits WHERE node_id = ? AND number = ? ORDER BY id DESC LIMIT 1',
    )
  }

  /** Reads the last commit of the node. */
  static open(database: Database, name: string): NodeChain {
    const node = database.query<{ id: bigint }, [string]>('SELECT id FROM nodes WHERE name = ?').get(name)
    const latest = node === null ? undefined : latestOf(node.id, database)
    return new NodeChain(database, { name, nodeId: node?.id, latest })
  }

  /** The row of the node; undefined before its first commit. */
  get nodeId(): bigint | undefined {
    return this.#latest?.nodeId ?? this.#nodeId
  }

  /** The number of the next commit; the first one is 1. */
  get nextNumber(): number {
    return (this.#latest?.number ?? 0) + 1
  }

  get latestHash(): Uint8Array {
    return this.#latest?.hash ?? NO_HASH
  }

  /** The last commit that is durable; undefined before the first one. */
  get end(): ChainEnd | undefined {
    const latest = this.#latest
    return latest && { node: this.name, number: latest.number, hash: hexOf(latest.hash) }
  }

  /** The hash of a commit in hexadecimal digits; undefined if there is no commit with this number. */
  hashOf(number: number): string | undefined {
    if (this.nodeId === undefined) return undefined
    const row = this.#selectHash.get(this.nodeId, number)
    return row === null ? undefined : hexOf(row.hash)
  }

  stage(link: Link): void {
    this.#staged = link
  }

  /** After a commit that extends the chain. */
  adopt(): void {
    this.#latest = this.#staged ?? this.#latest
    this.#staged = undefined
    this.#isUnreported = true
  }

  /** After all participants of a commit: calls the listeners if the commit extended the chain. */
  report(): void {
    if (!this.#isUnreported) return
    this.#isUnreported = false
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener` after each commit that extends the chain. */
  onCommit(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** After a rollback. */
  drop(): void {
    this.#staged = undefined
  }
}

function latestOf(nodeId: bigint, database: Database): Link | undefined {
  const row = database
    .query<{ number: bigint; hash: Uint8Array }, [bigint]>(
      'SELECT number, hash FROM commits WHERE node_id = ? ORDER BY id DESC LIMIT 1',
    )
    .get(nodeId)
  return row === null ? undefined : { nodeId, number: Number(row.number), hash: row.hash }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
