import { invalidJson } from '../json/parse-json.ts'
import {
  FILE_BYTES_MAX,
  KEPT_BYTES_MAX,
  KeptLimit,
  TEXT_BYTES_MAX,
  fieldsOf,
  type BodyReader,
  type InputName,
  type MediaBodyEvent,
  type MediaBodyOptions,
} from './media-body.ts'
import { MediaString } from './media-string.ts'
import { jsonString } from './string-syntax.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET_OPEN = 0x5b
const BACKSLASH = 0x5c
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d
const SPACE = 0x20

/** A byte order mark in UTF-8. */
const MARK = [0xef, 0xbb, 0xbf] as const

/** What a body keeps first. It doubles when it is full. */
const FIRST_KEPT_BYTES = 4096

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a JSON object that is too large for memory, because some of its members contain files as base64. Feed it the
 * bytes as they arrive, and call `end` after the last ones. Strings of media inputs become events. Everything else is
 * kept, with empty strings in their places, and parsed at the end. The kept text is valid JSON if and only if the body
 * is.
 *
 * Throws `invalid_json` for a body that is not a JSON object, `ambiguous_field`, and `invalid_field` for a value that
 * is too large.
 */
export class MediaBodyReader implements BodyReader {
  readonly #options: Required<MediaBodyOptions>
  readonly #limit: KeptLimit
  readonly #kept: KeptJson
  /** The memory for the beginnings of media inputs. */
  #head: Uint8Array | undefined
  /** How many bytes of a byte order mark were read; all of them if there can be no more. */
  #markBytes = 0
  #depth = 0
  /** Whether the next string at the top level is the key of a member. */
  #isKeyNext = false
  /** The media input whose value is being read. */
  #input: InputName | undefined
  #isInInputArray = false
  /** The string that is being read. */
  #string: 'none' | 'key' | 'other' | MediaString = 'none'
  #keyStart = 0
  #isEscaped = false

  constructor({
    textBytesMax = TEXT_BYTES_MAX,
    keptBytesMax = KEPT_BYTES_MAX,
    fileBytesMax = FILE_BYTES_MAX,
    ...options
  }: MediaBodyOptions) {
    this.#options = { ...options, textBytesMax, keptBytesMax, fileBytesMax }
    this.#limit = new KeptLimit(keptBytesMax)
    this.#kept = new KeptJson(this.#limit)
  }

  /** How much of the body is in memory. */
  get bufferedBytes(): number {
    return this.#kept.capacity + (this.#head?.length ?? 0)
  }

  /** Takes the next bytes, which are not kept. */
  feed(bytes: Uint8Array): readonly MediaBodyEvent[] {
    const events: MediaBodyEvent[] = []
    for (let at = this.#skipMark(bytes); at < bytes.length;) {
      at = this.#string === 'none' ? this.#feedStructure(bytes, at) : this.#feedString(bytes, at, events)
    }
    return events
  }

  /** Returns the position after a byte order mark. */
  #skipMark(bytes: Uint8Array): number {
    let at = 0
    while (this.#markBytes < MARK.length && at < bytes.length) {
      if (bytes[at] !== MARK[this.#markBytes]) {
        if (this.#markBytes > 0) throw invalidJson('it begins with a part of a byte order mark')
        this.#markBytes = MARK.length
      } else {
        this.#markBytes += 1
        at += 1
      }
    }
    return at
  }

  /** The body has ended. Returns the members that are not media inputs. */
  end(): Readonly<Record<string, unknown>> {
    const kept = this.#kept.from(0)
    let text: string
    try {
      text = utf8.decode(kept)
    } catch (cause) {
      throw invalidJson('it is not UTF-8', cause)
    }
    return fieldsOf({ text, byteLength: kept.length }, this.#options)
  }

  /** Reads up to the next string. Returns the position after its opening quote. */
  #feedStructure(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0
      if (this.#kept.length === 0 && byte !== BRACE_OPEN && !isSpace(byte)) {
        throw invalidJson('a JSON object was expected, and it does not begin with {')
      }
      if (byte === QUOTE) {
        this.#kept.push(QUOTE)
        this.#startString()
        return at + 1
      }
      if (isSpace(byte)) this.#keepSpace()
      else {
        this.#note(byte)
        this.#kept.push(byte)
      }
    }
    return bytes.length
  }

  /** Keeps one space of each run of spaces, because one is enough to separate. */
  #keepSpace(): void {
    if (this.#kept.length > 0 && this.#kept.from(this.#kept.length - 1)[0] !== SPACE) this.#kept.push(SPACE)
  }

  /** Follows the structure far enough to know which strings are keys and which are inputs. */
  #note(byte: number): void {
    if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      this.#depth += 1
      this.#isKeyNext ||= this.#depth === 1
      if (this.#depth === 2) this.#isInInputArray = byte === BRACKET_OPEN && this.#input !== undefined
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      this.#depth -= 1
    } else if (this.#depth === 1 && byte === COMMA) {
      this.#isKeyNext = true
      this.#input = undefined
    } else if (this.#depth === 1 && byte === COLON) this.#isKeyNext = false
  }

  #startString(): void {
    const isTop = this.#depth === 1
    if (isTop && this.#isKeyNext) {
      this.#string = 'key'
      this.#keyStart = this.#kept.length - 1
    } else if (this.#input !== undefined && (isTop || (this.#depth === 2 && this.#isInInputArray))) {
      const { fileBytesMax, textBytesMax } = this.#options
      this.#head ??= new Uint8Array(textBytesMax)
      this.#string = new MediaString({
        name: this.#input,
        syntax: jsonString(),
        head: this.#head,
        fileBytesMax,
      })
    } else this.#string = 'other'
  }

  /** Reads up to the string's end. Returns the position after its closing quote. */
  #feedString(bytes: Uint8Array, from: number, events: MediaBodyEvent[]): number {
    const end = this.#findEnd(bytes, from)
    if (this.#string instanceof MediaString) this.#string.push(bytes, from, end, events)
    else this.#kept.append(bytes, from, end)
    if (end === bytes.length) return end
    this.#endString(events)
    return end + 1
  }

  /** Where the closing quote is; the end of the bytes if it is not among them. */
  #findEnd(bytes: Uint8Array, from: number): number {
    let at = this.#isEscaped ? from + 1 : from
    let quote = indexOrEnd(bytes, QUOTE, at)
    let backslash = bytes.subarray(at, quote).indexOf(BACKSLASH)
    while (backslash >= 0) {
      // Continues after the escaped character, which may be the first one of the next bytes.
      at += backslash + 2
      if (quote < at) quote = indexOrEnd(bytes, QUOTE, at)
      backslash = bytes.subarray(at, quote).indexOf(BACKSLASH)
    }
    this.#isEscaped = at > bytes.length
    return quote
  }

  #endString(events: MediaBodyEvent[]): void {
    this.#kept.push(QUOTE)
    if (this.#string instanceof MediaString) this.#limit.add(this.#string.finish(events))
    else if (this.#string === 'key') this.#input = this.#inputNamed(this.#kept.from(this.#keyStart))
    this.#string = 'none'
  }

  /** The media input that a key names. */
  #inputNamed(quoted: Uint8Array): InputName | undefined {
    try {
      const key = JSON.parse(utf8.decode(quoted)) as InputName
      return this.#options.names.has(key) ? key : undefined
    } catch {
      // The kept text is then as invalid as the body, and is refused at the end.
      return undefined
    }
  }
}

function indexOrEnd(bytes: Uint8Array, byte: number, from: number): number {
  const index = bytes.indexOf(byte, from)
  return index < 0 ? bytes.length : index
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The part of a JSON text that is kept in memory, up to a limit. */
class KeptJson {
  readonly #limit: KeptLimit
  #bytes = new Uint8Array(FIRST_KEPT_BYTES)
  #length = 0

  constructor(limit: KeptLimit) {
    this.#limit = limit
  }

  get length(): number {
    return this.#length
  }

  /** How much memory it takes. */
  get capacity(): number {
    return this.#bytes.length
  }

  push(byte: number): void {
    this.#makeRoom(1)
    this.#bytes[this.#length - 1] = byte
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from)
    this.#bytes.set(bytes.subarray(from, to), this.#length - (to - from))
  }

  from(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#length)
  }

  /** At the end, for so many bytes. */
  #makeRoom(bytes: number): void {
    this.#limit.add(bytes)
    this.#length += bytes
    if (this.#length <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}
