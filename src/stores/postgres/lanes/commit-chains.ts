import type { Anchor, ChainEnd } from '../../../domain/ledger/anchor.ts'
import type { CommitChains } from '../../../gateway/ports/anchor.ts'
import { flushed } from './lane.ts'
import type { ReadQuery } from '../database/reads.ts'

/** The chains of commits of all lanes, whichever node has them. */
export class LaneChains implements CommitChains {
  readonly #sql: ReadQuery
  readonly #listeners: (() => void)[] = []

  constructor({ reads }: { readonly reads: ReadQuery }) {
    this.#sql = reads
  }

  async ends(): Promise<Anchor> {
    const rows = await this.#sql<{ node: string; number: bigint; hash: Uint8Array }[]>`
      SELECT nodes.name AS node, commit_number AS number, commit_hash AS hash
        FROM lanes JOIN nodes ON nodes.id = node_id WHERE commit_number > 0 ORDER BY lanes.number`
    // Batches are visible before they are on disk. A crash of the server must not lose a commit that an anchor names.
    await flushed(this.#sql)
    return rows.map(({ node, number, hash }) => ({ node, number: Number(number), hash: hexOf(hash) }))
  }

  /** The row ids of a lane are in its range, so this reads backwards from the end of its chain. */
  async hashOf({ node, number }: Pick<ChainEnd, 'node' | 'number'>): Promise<string | undefined> {
    const [row] = await this.#sql<{ hash: Uint8Array }[]>`
      SELECT found.hash FROM lanes JOIN nodes ON nodes.id = node_id, LATERAL (
          SELECT hash FROM commits WHERE commits.node_id = lanes.node_id AND commits.number = ${number}
              AND commits.id BETWEEN lanes.number << 43 AND lanes.last_id
            ORDER BY commits.id DESC LIMIT 1
        ) AS found WHERE nodes.name = ${node}`
    return row && hexOf(row.hash)
  }

  onCommit(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** This node's chain grew. */
  report(): void {
    for (const listener of this.#listeners) listener()
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
