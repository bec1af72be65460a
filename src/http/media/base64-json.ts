import type { Bytes } from '../../domain/bytes.ts'
import type { ByteStream } from '../../http1/byte-stream.ts'

const GROUP = 3
/** Smaller parts are put together: each piece costs a write to the socket. */
const PIECE_CHARACTERS_MIN = 16 * 1024
const encoder = new TextEncoder()

/** One part of a body: text, or bytes that are written as base64. */
export type BodyPart = string | ByteStream

/**
 * A body made of texts and of files in base64, piece by piece: no file is ever whole in memory. It owns the streams of
 * its files. If a file ends early, the body ends with an error after all that comes before it, and the client sees a
 * broken reply. Without the first bytes, it would see no reply, and client libraries would send the request again.
 */
export class Base64Body implements ByteStream {
  readonly #parts: readonly BodyPart[]
  #next = 0
  #file: ByteStream | undefined
  /** Bytes that wait for the rest of their group of three. */
  #carry: Uint8Array = new Uint8Array()
  #isCancelled = false
  #failure: { readonly cause: unknown } | undefined

  constructor(parts: readonly BodyPart[]) {
    this.#parts = parts
  }

  async read(): Promise<Bytes | undefined> {
    if (this.#failure !== undefined) throw this.#failure.cause
    let text = ''
    while (text.length < PIECE_CHARACTERS_MIN) {
      const more = await this.#nextText().catch((cause: unknown) => {
        if (text === '') throw cause
        this.#failure = { cause }
      })
      if (this.#isCancelled) return undefined
      if (more === undefined) break
      text += more
    }
    return text === '' ? undefined : encoder.encode(text)
  }

  /** Closes all files, including files that were not read. */
  cancel(): void {
    this.#isCancelled = true
    this.#file?.cancel()
    for (const part of this.#parts.slice(this.#next)) if (typeof part !== 'string') part.cancel()
  }

  /** Undefined at the end. Empty if there is nothing to write yet. */
  async #nextText(): Promise<string | undefined> {
    if (this.#file !== undefined) return this.#readFile(this.#file)
    const part = this.#parts[this.#next]
    this.#next += 1
    if (part === undefined || typeof part === 'string') return part
    this.#file = part
    return ''
  }

  /** Empty if there is nothing to write yet. */
  async #readFile(file: ByteStream): Promise<string> {
    const bytes = await file.read()
    if (bytes === undefined) {
      const rest = this.#carry
      this.#file = undefined
      this.#carry = new Uint8Array()
      return toBase64(rest)
    }
    const joined = joinBytes(this.#carry, bytes)
    const whole = joined.length - (joined.length % GROUP)
    this.#carry = joined.slice(whole)
    return toBase64(joined.subarray(0, whole))
  }
}

/** The length in base64 of this number of bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / GROUP) * 4
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}

function toBase64(bytes: Uint8Array): string {
  return bytes.length === 0 ? '' : bytes.toBase64()
}
