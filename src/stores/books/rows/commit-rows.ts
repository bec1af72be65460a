import type { Bytes } from '../../../domain/bytes.ts'
import { CanonicalBytes, type SqlValue } from './canonical.ts'
import { hashedTables } from './hashed-tables.ts'

/** The data that a commit stores for each row that it covers: the tag of its table and its CRC-32. */
export const CHECKSUM_BYTES = 5
const HASH_BYTES = 32

/** The hash before the first commit of a node. */
export const NO_HASH = new Uint8Array(HASH_BYTES)

/** The hash functions of commits. The runtime has them, so each store passes them in. */
export interface Hashes {
  crc32(bytes: Uint8Array): number
  newSha256(): Sha256
}

/** A SHA-256 that is being computed. */
export interface Sha256 {
  update(bytes: Uint8Array): unknown
  /** Ends it, and writes its 32 bytes. */
  digest(into: Uint8Array): unknown
}

/** The rows that a transaction adds to one table, in their canonical form. */
type Section = { readonly tag: number; readonly bytes: CanonicalBytes; readonly checksums: number[] }

/** The rows that a transaction adds to the hashed tables. */
export class CommitRows {
  readonly #hashes: Hashes
  readonly #sections: readonly Section[] = hashedTables.map(({ tag }) => ({
    tag,
    bytes: new CanonicalBytes(),
    checksums: [],
  }))
  readonly #sectionOf: readonly Section[]
  #count = 0

  constructor(hashes: Hashes) {
    this.#hashes = hashes
    const sectionOf: Section[] = []
    for (const section of this.#sections) sectionOf[section.tag] = section
    this.#sectionOf = sectionOf
  }

  get count(): number {
    return this.#count
  }

  /** `values` are the values of all columns of the row. */
  add(tag: number, values: readonly SqlValue[]): void {
    const section = this.#sectionOf[tag]
    if (section === undefined) throw new Error(`There is no hashed table with the tag ${tag}.`)
    const start = section.bytes.length
    section.bytes.addAll(values)
    section.checksums.push(this.#hashes.crc32(section.bytes.bytesFrom(start)))
    this.#count += 1
  }

  clear(): void {
    for (const { bytes, checksums } of this.#sections) {
      bytes.clear()
      checksums.length = 0
    }
    this.#count = 0
  }

  hash(commit: CommitHead): Uint8Array {
    const hasher = commitHasher(commit, this.#hashes)
    for (const { bytes } of this.#sections) if (bytes.length > 0) hasher.update(bytes.bytes)
    return hashOf(hasher)
  }

  /** Shows which row of a commit has changed if the hash no longer matches. */
  checksums(): Uint8Array {
    const bytes = new ChecksumBytes(this.#count)
    for (const { tag, checksums } of this.#sections) bytes.add(tag, checksums)
    return bytes.bytes
  }
}

/** The stored form of the checksums of a commit: for each row the tag of its table and its CRC-32. */
export class ChecksumBytes {
  #view: DataView<ArrayBuffer>
  #length = 0

  constructor(rows = 0) {
    this.#view = new DataView(new ArrayBuffer(rows * CHECKSUM_BYTES))
  }

  get bytes(): Bytes {
    return new Uint8Array(this.#view.buffer, 0, this.#length)
  }

  /** Adds the checksums of the rows of one table. */
  add(tag: number, checksums: readonly number[]): void {
    this.#reserve(checksums.length * CHECKSUM_BYTES)
    for (const checksum of checksums) {
      this.#view.setUint8(this.#length, tag)
      this.#view.setUint32(this.#length + 1, checksum)
      this.#length += CHECKSUM_BYTES
    }
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#view.byteLength) return
    const larger = new Uint8Array(needed)
    larger.set(this.bytes)
    this.#view = new DataView(larger.buffer)
  }
}

export type CommitHead = {
  /** The hash of the node's commit before this one. */
  readonly previous: Uint8Array
  readonly node: string
  readonly number: number
}

const head = new CanonicalBytes()

/**
 * The SHA-256 of a commit, to which its rows are added in their canonical form: table by table in the order of
 * `hashedTables`, and in each table by row id.
 */
export function commitHasher({ previous, node, number }: CommitHead, hashes: Hashes): Sha256 {
  head.clear()
  head.addAll(['tollgate commit 1', node, number])
  const hasher = hashes.newSha256()
  hasher.update(previous)
  hasher.update(head.bytes)
  return hasher
}

export function hashOf(hasher: Sha256): Bytes {
  const hash = new Uint8Array(HASH_BYTES)
  hasher.digest(hash)
  return hash
}
