import type { Database, Statement } from 'bun:sqlite'
import type { SqlValue } from '../../books/rows/canonical.ts'
import { CommitRows } from '../../books/rows/commit-rows.ts'
import { bunHashes } from './hashes.ts'
import type { NodeChain } from './node-chain.ts'
import type { Transactions } from './transactions.ts'

type Parts = { readonly database: Database; readonly transactions: Transactions }

/**
 * Writes a row into `commits` for each transaction that adds rows to a hashed table. Its hash covers the hash of the
 * node's commit before it and the new rows, so the hash no longer matches if a row is changed, inserted or deleted
 * later.
 */
export class CommitLog {
  readonly #transactions: Transactions
  readonly #rows = new CommitRows(bunHashes)
  readonly #insertNode: Statement
  readonly #insertCommit: Statement
  #nextId: bigint

  private constructor({ database, transactions }: Parts, lastId: bigint) {
    this.#transactions = transactions
    this.#insertNode = database.prepare('INSERT INTO nodes (name) VALUES (?) ON CONFLICT DO NOTHING')
    this.#insertCommit = database.prepare(
      'INSERT INTO commits (id, node_id, number, checksums, hash) VALUES (?, ?, ?, ?, ?)',
    )
    // The commits of migrations have the ids -1 and 0.
    this.#nextId = lastId < 0n ? 1n : lastId + 1n
    transactions.join({
      beforeCommit: () => this.#write(),
      afterCommit: () => this.#adopt(),
      afterRollback: () => this.#drop(),
    })
  }

  /** Reads the id of the last commit. */
  static open(parts: Parts): CommitLog {
    const row = parts.database.query<{ last: bigint | null }, []>('SELECT max(id) AS last FROM commits').get()
    return new CommitLog(parts, row?.last ?? 0n)
  }

  /** Inside a step: the id of the commit that covers the rows of the running transaction. */
  get currentId(): bigint {
    return this.#nextId
  }

  /** Inside a step: covers a row that was just inserted. */
  add(tag: number, values: readonly SqlValue[]): void {
    this.#rows.add(tag, values)
  }

  #write(): void {
    if (this.#rows.count === 0) return
    const chain = this.#chain()
    const number = chain.nextNumber
    const nodeId = chain.nodeId ?? BigInt(this.#insertNode.run(chain.name).lastInsertRowid)
    const hash = this.#rows.hash({ previous: chain.latestHash, node: chain.name, number })
    this.#insertCommit.run(this.#nextId, nodeId, number, this.#rows.checksums(), hash)
    chain.stage({ nodeId, number, hash })
  }

  #adopt(): void {
    if (this.#rows.count === 0) return
    this.#rows.clear()
    this.#nextId += 1n
    this.#chain().adopt()
  }

  #drop(): void {
    this.#transactions.author?.drop()
    this.#rows.clear()
  }

  #chain(): NodeChain {
    const { author } = this.#transactions
    if (author === undefined) throw new Error('Only a node can write rows that a commit covers.')
    return author
  }
}
