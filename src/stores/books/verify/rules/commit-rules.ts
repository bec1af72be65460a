import { CanonicalBytes } from '../../rows/canonical.ts'
import {
  CHECKSUM_BYTES,
  ChecksumBytes,
  commitHasher,
  hashOf,
  type CommitHead,
  type Hashes,
  type Sha256,
} from '../../rows/commit-rows.ts'
import type { HashedTableDefinition } from '../../rows/hashed-table.ts'
import type { HashedRow } from './covered-rows.ts'

export type StoredCommit = CommitHead & {
  readonly id: bigint
  /** Null for the commit of earlier versions. */
  readonly checksums: Uint8Array | null
  readonly hash: Uint8Array
}

/** A difference between the rows of one table and those that a commit wrote. Only the first one can be located. */
export type Difference = {
  readonly table: HashedTableDefinition
  readonly kind: 'changed' | 'missing' | 'inserted'
  /** The changed or inserted row, or the one after the missing row. Undefined if the missing row is the last one. */
  readonly row: HashedRow | undefined
}

type CheckedRow = { readonly row: HashedRow; readonly checksum: number }

/** Recomputes the hash of one commit from its rows, which are added in the order of the hash. */
export class CommitCheck {
  readonly #commit: StoredCommit
  readonly #hashes: Hashes
  readonly #hasher: Sha256
  readonly #bytes = new CanonicalBytes()
  readonly #differences: Difference[] = []
  /** The rows of the current table; none for the commit of earlier versions, which can have very many. */
  #rows: CheckedRow[] = []
  /** The checksums of all rows, as the commit should have them; none if it has none. */
  readonly #checksums = new ChecksumBytes()

  constructor(commit: StoredCommit, hashes: Hashes) {
    this.#commit = commit
    this.#hashes = hashes
    this.#hasher = commitHasher(commit, hashes)
  }

  add(row: HashedRow): void {
    this.#bytes.clear()
    this.#bytes.addAll(row.values)
    this.#hasher.update(this.#bytes.bytes)
    if (this.#commit.checksums !== null)
      this.#rows.push({ row, checksum: this.#hashes.crc32(this.#bytes.bytes) })
  }

  /** Ends the rows of a table. */
  endTable(table: HashedTableDefinition): void {
    const { checksums } = this.#commit
    if (checksums !== null) {
      this.#checksums.add(
        table.tag,
        this.#rows.map(({ checksum }) => checksum),
      )
      const differences = differencesOf(checksumsOf(checksums, table.tag), this.#rows)
      this.#differences.push(...differences.map(({ kind, row }) => ({ table, kind, row })))
    }
    this.#rows = []
  }

  /** `areChecksumsRight` says whether the stored checksums are those of the rows, if the commit has checksums. */
  end(): {
    readonly isHashRight: boolean
    readonly areChecksumsRight: boolean
    readonly differences: readonly Difference[]
  } {
    const { hash, checksums } = this.#commit
    const isHashRight = isSame(hashOf(this.#hasher), hash)
    const areChecksumsRight = checksums === null || isSame(this.#checksums.bytes, checksums)
    return { isHashRight, areChecksumsRight, differences: this.#differences }
  }
}

/** Whether two hashes have the same bytes. */
export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}

type RowDifference = Pick<Difference, 'kind' | 'row'>

function differencesOf(written: readonly number[], rows: readonly CheckedRow[]): readonly RowDifference[] {
  const missing = { kind: 'missing', row: undefined } as const
  const isShort = written.length > rows.length
  const at = rows.findIndex(({ checksum }, index) => checksum !== written[index])
  if (at < 0) return isShort ? [missing] : []
  const row = rows[at]
  if (at >= written.length || rows[at + 1]?.checksum === written[at])
    return [{ kind: 'inserted', row: row?.row }]
  if (written[at + 1] === row?.checksum) return [{ kind: 'missing', row: row?.row }]
  return [{ kind: 'changed', row: row?.row }, ...(isShort ? [missing] : [])]
}

function checksumsOf(bytes: Uint8Array, tag: number): readonly number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const checksums: number[] = []
  for (let at = 0; at + CHECKSUM_BYTES <= bytes.length; at += CHECKSUM_BYTES)
    if (view.getUint8(at) === tag) checksums.push(view.getUint32(at + 1))
  return checksums
}
