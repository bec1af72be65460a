import type { Anchor, ChainEnd } from '../../../domain/ledger/anchor.ts'
import type { CommitChains } from '../../../gateway/ports/ledger/anchor.ts'
import { flushed } from './lane.ts'
import type { ReadQuery } from '../database/reads.ts'

/** The chains of commits of all lanes, whichever node has them, and of books that were copied from SQLite. */
export class LaneChains implements CommitChains {
  readonly #sql: ReadQuery
  readonly #listeners: (() => void)[] = []
  /** They do not grow, and none is copied while a gateway runs. */
  #copied: Promise<readonly CopiedEnd[]> | undefined

  constructor({ reads }: { readonly reads: ReadQuery }) {
    this.#sql = reads
  }

  async ends(): Promise<Anchor> {
    const copied = await this.#endsOfCopied()
    const rows = await this.#sql<EndRow[]>`
      SELECT nodes.name AS node, commit_number AS number, commit_hash AS hash
        FROM lanes JOIN nodes ON nodes.id = node_id WHERE commit_number > 0 ORDER BY lanes.number`
    // Batches are visible before they are on disk. A crash of the server must not lose a commit that an anchor names.
    await flushed(this.#sql)
    return [...copied.map(({ end }) => end), ...rows.map(endFrom)]
  }

  #endsOfCopied(): Promise<readonly CopiedEnd[]> {
    const found = (this.#copied ??= this.#readEndsOfCopied())
    found.catch(() => (this.#copied = undefined))
    return found
  }

  /** Copied rows have ids before those of all lanes. */
  async #readEndsOfCopied(): Promise<readonly CopiedEnd[]> {
    const rows = await this.#sql<(EndRow & { id: bigint })[]>`
      SELECT name AS node, last.id, last.number, last.hash FROM nodes, LATERAL (
          SELECT id, number, hash FROM commits WHERE node_id = nodes.id AND id < 1::bigint << 43
            ORDER BY id DESC LIMIT 1
        ) AS last WHERE NOT EXISTS (SELECT FROM lanes WHERE node_id = nodes.id) ORDER BY name`
    return rows.map(row => ({ id: row.id, end: endFrom(row) }))
  }

  /** Copied chains share a range of row ids, so their ends are found by their ids. */
  async hashOf({ node, number }: Pick<ChainEnd, 'node' | 'number'>): Promise<string | undefined> {
    const copied = (await this.#endsOfCopied()).find(({ end }) => end.node === node && end.number === number)
    if (copied !== undefined) {
      const [last] = await this.#sql<{ hash: Uint8Array }[]>`SELECT hash FROM commits WHERE id = ${copied.id}`
      return last && hexOf(last.hash)
    }
    const [row] = await this.#sql<
      { hash: Uint8Array | null }[]
    >`SELECT commit_hash_v1(${node}, ${number}) AS hash`
    return row?.hash ? hexOf(row.hash) : undefined
  }

  onCommit(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** This node's chain grew. */
  report(): void {
    for (const listener of this.#listeners) listener()
  }
}

type CopiedEnd = { readonly id: bigint; readonly end: ChainEnd }
type EndRow = { node: string; number: bigint; hash: Uint8Array }

function endFrom({ node, number, hash }: EndRow): ChainEnd {
  return { node, number: Number(number), hash: hexOf(hash) }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
