import type { Bytes } from '../../domain/bytes.ts'
import { Base64Decoder } from './base64-decoder.ts'
import { emptyFile, fileTooLarge, type InputName, type MediaBodyEvent } from './media-body.ts'
import { mediaTypeOf } from './media-signature.ts'
import type { StringSyntax, Unescaped } from './string-syntax.ts'

const LINE_END_CODES: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d])
const LAST_ASCII = 0x7f

const latin1 = new TextDecoder('latin1')

/**
 * One string of a media input, while it arrives. Its beginning is kept unchanged until the string ends. A string that
 * is longer than the memory for this can only be base64, and is decoded while it arrives.
 */
export class MediaString implements Unescaped {
  readonly #name: InputName
  readonly #fileBytesMax: number
  readonly #head: Uint8Array
  #headLength = 0
  #mode: 'head' | 'base64' | 'dropped' = 'head'
  readonly #syntax: StringSyntax
  readonly #decoder = new Base64Decoder()
  #out = new Uint8Array(0)
  #outLength = 0
  #fileBytes = 0

  /** `head` is the memory for the beginning. It may be used again for the next string. */
  constructor(options: {
    readonly name: InputName
    readonly syntax: StringSyntax
    readonly head: Uint8Array
    readonly fileBytesMax: number
  }) {
    this.#name = options.name
    this.#syntax = options.syntax
    this.#head = options.head
    this.#fileBytesMax = options.fileBytesMax
  }

  /** Takes more of the string. */
  push(raw: Uint8Array, from: number, to: number, events: MediaBodyEvent[]): void {
    const headEnd = this.#mode === 'head' ? Math.min(to, from + this.#head.length - this.#headLength) : from
    this.#head.set(raw.subarray(from, headEnd), this.#headLength)
    this.#headLength += headEnd - from
    if (headEnd === to) return
    if (this.#mode === 'head') this.#endHead(events)
    this.#stream(raw, headEnd, to, events)
  }

  /** The string has ended. Gives the length of the text, if it came as one. */
  finish(events: MediaBodyEvent[]): number {
    if (this.#mode === 'head') return this.#finishShort(events)
    this.#syntax.finish()
    if (this.#mode === 'base64') {
      this.#out = new Uint8Array(Base64Decoder.roomFor(0))
      this.#outLength = this.#decoder.finish(this.#out, 0)
      this.#giveBytes(events)
      if (this.#fileBytes === 0 && !this.#decoder.isInvalid) throw emptyFile(this.#name)
      events.push({ event: this.#decoder.isInvalid ? 'file_invalid' : 'file_end' })
    }
    return 0
  }

  onRun(bytes: Uint8Array, start: number, end: number): void {
    const spaces = this.#decoder.spaces
    if (this.#mode === 'base64') this.#decode(bytes, start, end)
    // The characters that base64 has besides spaces are allowed in every syntax.
    const isChecked = this.#mode === 'base64' && this.#decoder.spaces === spaces && !this.#decoder.isInvalid
    if (!isChecked) this.#syntax.check(bytes, start, end)
  }

  onEscaped(code: number): void {
    if (this.#mode !== 'base64' || LINE_END_CODES.has(code)) return
    // All bytes outside ASCII are equally invalid.
    this.#decode(Uint8Array.of(Math.min(code, LAST_ASCII)), 0, 1)
  }

  #decode(bytes: Uint8Array, start: number, end: number): void {
    this.#outLength = this.#decoder.push(bytes, start, end, this.#out, this.#outLength)
  }

  #finishShort(events: MediaBodyEvent[]): number {
    const text = this.#syntax.textOf(this.#head.subarray(0, this.#headLength))
    if (EMPTY_DATA_URL.test(text)) throw emptyFile(this.#name)
    const bytes = bytesOfInput(text)
    if (bytes === undefined) {
      events.push({ event: 'text', name: this.#name, text })
      return text.length
    }
    events.push({ event: 'file_start', name: this.#name, mediaType: mediaTypeOf(bytes) })
    this.#out = bytes
    this.#outLength = bytes.length
    this.#giveBytes(events)
    events.push({ event: 'file_end' })
    return 0
  }

  /** The string is a long one. Its beginning is decoded, unless it shows that the string is not base64. */
  #endHead(events: MediaBodyEvent[]): void {
    const head = this.#head.subarray(0, this.#headLength)
    const start = contentStart(head, this.#syntax)
    this.#out = new Uint8Array(Base64Decoder.roomFor(head.length))
    this.#mode = 'base64'
    this.#syntax.push(head, start, head.length, this)
    if (this.#decoder.isInvalid) this.#mode = 'dropped'
    else {
      const mediaType = mediaTypeOf(this.#out.subarray(0, this.#outLength))
      events.push({ event: 'file_start', name: this.#name, mediaType })
      this.#giveBytes(events)
    }
  }

  #stream(raw: Uint8Array, from: number, to: number, events: MediaBodyEvent[]): void {
    if (this.#mode === 'base64') this.#out = new Uint8Array(Base64Decoder.roomFor(to - from))
    this.#syntax.push(raw, from, to, this)
    if (this.#mode !== 'base64') return
    this.#giveBytes(events)
    if (!this.#decoder.isInvalid) return
    this.#mode = 'dropped'
    events.push({ event: 'file_invalid' })
  }

  #giveBytes(events: MediaBodyEvent[]): void {
    const bytes = this.#out.subarray(0, this.#outLength)
    this.#fileBytes += bytes.length
    if (this.#fileBytes > this.#fileBytesMax) throw fileTooLarge(this.#name, this.#fileBytesMax)
    if (bytes.length > 0) events.push({ event: 'file_bytes', bytes })
    this.#out = NOTHING
    this.#outLength = 0
  }
}

const NOTHING = new Uint8Array(0)

/** Where the base64 begins in a raw string: behind the header of a data URL, if there is one. */
function contentStart(raw: Uint8Array, syntax: StringSyntax): number {
  const text = latin1.decode(raw)
  const comma = text.indexOf(',')
  if (comma < 0) return 0
  const header = syntax.textOf(raw.subarray(0, comma + 1))
  return dataUrlContent(header) === header.length ? comma + 1 : 0
}

/** With any encoding, and with the spaces that base64 may have. */
const EMPTY_DATA_URL = /^[\t\n\r ]*data:[^,]{0,500},[\t\n\r ]*$/i

/** Any scheme, media type and parameters; only the encoding must be base64. */
const DATA_URL = /^data:[^,]{0,500};base64,/i

/** Where the base64 of a data URL begins; undefined for any other text. Its beginning is enough. */
export function dataUrlContent(text: string): number | undefined {
  return DATA_URL.exec(text)?.[0].length
}

/**
 * The bytes of an input that came as text: of a data URL, or of bare base64 whose signature is that of a media file.
 * Undefined for other text, which is a link, a provider's id, bytes of an unknown format, or none of these: see
 * `bytesOfUnknownFormat`.
 */
export function bytesOfInput(text: string): Bytes | undefined {
  const start = dataUrlContent(text)
  const bytes = decodeBase64(text.slice(start ?? 0))
  return start !== undefined || (bytes !== undefined && mediaTypeOf(bytes) !== undefined) ? bytes : undefined
}

/** Base64 in either alphabet, with its padding. Line ends must be removed first. */
const COMPLETE_BASE64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2}==|[\w+/-]{3}=)?$/

/**
 * The bytes of a text that is base64 of an unknown format; undefined for other text. Such base64 must be complete and
 * have no spaces, because otherwise many words and sentences would be base64.
 */
export function bytesOfUnknownFormat(text: string): Bytes | undefined {
  const content = text.trim().replaceAll(/[\t\n\r]/g, '')
  return COMPLETE_BASE64.test(content) ? decodeBase64(content) : undefined
}

/** The bytes of a text that is base64 of at least one byte; undefined for other text. */
export function decodeBase64(text: string): Bytes | undefined {
  const source = new TextEncoder().encode(text)
  const bytes = new Uint8Array(Base64Decoder.roomFor(source.length))
  const decoder = new Base64Decoder()
  const length = decoder.finish(bytes, decoder.push(source, 0, source.length, bytes, 0))
  return decoder.isInvalid || length === 0 ? undefined : bytes.subarray(0, length)
}
