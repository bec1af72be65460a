/** A command and its arguments. Texts are sent as UTF-8. */
export type Command = readonly (string | Uint8Array)[]

/** A refusal of the server, in its words. The first word is a code, such as `WRONGTYPE`. */
export class RefusedCommand extends Error {
  override readonly name = 'RefusedCommand'

  get code(): string {
    return /^[A-Z]+/.exec(this.message)?.[0] ?? ''
  }
}

/** A value of more bytes than the reader accepts. Its bytes were skipped. */
export const TOO_LONG = Symbol('too long')

/** A status is a text, and a value is bytes; null is a missing value. */
export type Reply = string | number | Uint8Array | null | RefusedCommand | typeof TOO_LONG

/** The bytes of commands in RESP2, which every version of Redis and Valkey reads. */
export function encodeCommands(commands: readonly Command[]): Buffer {
  // One text between two arguments in bytes: a buffer for each part would take longer than the rest.
  const parts: Uint8Array[] = []
  let text = ''
  for (const command of commands) {
    text += `*${command.length}\r\n`
    for (const argument of command) {
      if (typeof argument === 'string') text += `$${Buffer.byteLength(argument)}\r\n${argument}\r\n`
      else {
        parts.push(Buffer.from(`${text}$${argument.length}\r\n`), argument)
        text = '\r\n'
      }
    }
  }
  return Buffer.concat([...parts, Buffer.from(text)])
}

const END_BYTES = 2
const LINE_FEED = 0x0a
/** For errors and numbers. A longer line is not of a Redis server. */
const LINE_BYTES_MAX = 4096
const NO_BYTES = Buffer.alloc(0)

/**
 * Reads replies from the pieces of a stream. It buffers at most one reply, and skips values that are longer than
 * `valueBytesMax`: anybody who can write into the server could have put them there.
 */
export class ReplyReader {
  readonly #valueBytesMax: number
  #rest: Buffer = NO_BYTES
  /** The bytes of a long value that are still to come, with its end of line. */
  #skip = 0

  constructor({ valueBytesMax }: { readonly valueBytesMax: number }) {
    this.#valueBytesMax = valueBytesMax
  }

  /** The replies that a piece completes. Throws an Error if the bytes are not RESP2. */
  read(piece: Buffer): readonly Reply[] {
    let bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const replies: Reply[] = []
    for (;;) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length)
        this.#skip -= skipped
        bytes = bytes.subarray(skipped)
        if (this.#skip > 0) break
        replies.push(TOO_LONG)
      }
      const found = this.#next(bytes)
      if (found === undefined) break
      bytes = bytes.subarray(found.end)
      if (found.reply !== undefined) replies.push(found.reply)
    }
    this.#rest = bytes
    return replies
  }

  /** The first reply and where it ends. Without a reply, a long value begins there. Undefined if it is incomplete. */
  #next(bytes: Buffer): { readonly reply?: Reply; readonly end: number } | undefined {
    const lineEnd = bytes.indexOf(LINE_FEED)
    if (lineEnd === -1) {
      if (bytes.length > LINE_BYTES_MAX) throw new Error('The server sent a line that is too long.')
      return undefined
    }
    const end = lineEnd + 1
    const line = bytes.toString('utf8', 1, lineEnd).replace(/\r$/, '')
    const kind = String.fromCharCode(bytes[0] ?? 0)
    if (kind === '+') return { reply: line, end }
    if (kind === '-') return { reply: new RefusedCommand(line), end }
    if (kind === ':' && /^-?\d{1,15}$/.test(line)) return { reply: Number(line), end }
    if (kind === '$' && line === '-1') return { reply: null, end }
    if (kind === '$' && /^\d{1,10}$/.test(line)) return this.#value(bytes, end, Number(line))
    throw new Error('The server does not speak the protocol of Redis.')
  }

  #value(
    bytes: Buffer,
    start: number,
    length: number,
  ): { readonly reply?: Reply; readonly end: number } | undefined {
    const end = start + length + END_BYTES
    if (length > this.#valueBytesMax) {
      this.#skip = length + END_BYTES
      return { end: start }
    }
    if (bytes.length < end) return undefined
    // A copy: the rest of the piece would stay in memory with it.
    return { reply: new Uint8Array(bytes.subarray(start, start + length)), end }
  }
}
