import type { Bytes } from '../../../domain/bytes.ts'
/** A value of a column of a hashed table. A boolean is 0 or 1. */
export type SqlValue = string | number | bigint | Uint8Array | null

/** A text with a sign in place of each NUL: PostgreSQL stores no NUL, and refuses a query that has one. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

const NULL = 0
const INTEGER = 1
const TEXT = 2
const BLOB = 3
const INTEGER_BYTES = 8
const LENGTH_BYTES = 4
/** UTF-8 takes at most this many bytes for each UTF-16 unit. */
const UTF8_MAX = 3
const TWO_TO_32 = 4_294_967_296
const ASCII_END = 0x80

const encoder = new TextEncoder()

/**
 * The canonical form of values, which commit hashes cover. Each value is a type byte and its content: nothing for null,
 * a signed 64-bit big-endian integer, or a text or blob as its length in bytes (32 bits, big-endian) and its bytes, a
 * text in UTF-8. Different values therefore never have the same bytes.
 */
export class CanonicalBytes {
  #bytes = new Uint8Array(4096)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  /** Valid until the next change. */
  get bytes(): Bytes {
    return this.#bytes.subarray(0, this.#length)
  }

  get length(): number {
    return this.#length
  }

  /** The bytes from `start` on. Valid until the next change. */
  bytesFrom(start: number): Bytes {
    return this.#bytes.subarray(start, this.#length)
  }

  clear(): void {
    this.#length = 0
  }

  addAll(values: readonly SqlValue[]): void {
    for (const value of values) this.add(value)
  }

  add(value: SqlValue): void {
    if (typeof value === 'string') this.#addText(value)
    else if (value === null) this.#addNull()
    else if (value instanceof Uint8Array) this.#addBlob(value)
    else this.#addInteger(value)
  }

  #addNull(): void {
    this.#reserve(1)
    this.#bytes[this.#length] = NULL
    this.#length += 1
  }

  #addInteger(value: number | bigint): void {
    this.#reserve(1 + INTEGER_BYTES)
    this.#bytes[this.#length] = INTEGER
    const at = this.#length + 1
    if (typeof value === 'bigint') this.#view.setBigInt64(at, value)
    else {
      if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an exact integer.`)
      this.#view.setInt32(at, Math.floor(value / TWO_TO_32))
      this.#view.setUint32(at + 4, value >>> 0)
    }
    this.#length += 1 + INTEGER_BYTES
  }

  #addText(value: string): void {
    this.#reserve(1 + LENGTH_BYTES + value.length * UTF8_MAX)
    const contentAt = this.#length + 1 + LENGTH_BYTES
    const written = this.#encode(value, contentAt)
    this.#bytes[this.#length] = TEXT
    this.#view.setUint32(this.#length + 1, written)
    this.#length = contentAt + written
  }

  /**
   * Returns the length in bytes. Nearly every text is a short name in ASCII, for which a loop costs less than the
   * encoder.
   */
  #encode(value: string, start: number): number {
    for (let at = 0; at < value.length; at += 1) {
      const unit = value.charCodeAt(at)
      if (unit >= ASCII_END) return encoder.encodeInto(value, this.#bytes.subarray(start)).written
      this.#bytes[start + at] = unit
    }
    return value.length
  }

  #addBlob(value: Uint8Array): void {
    this.#reserve(1 + LENGTH_BYTES + value.length)
    this.#bytes[this.#length] = BLOB
    this.#view.setUint32(this.#length + 1, value.length)
    this.#bytes.set(value, this.#length + 1 + LENGTH_BYTES)
    this.#length += 1 + LENGTH_BYTES + value.length
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}
