import type { Bytes } from '../../domain/bytes.ts'
import {
  FILE_BYTES_MAX,
  KEPT_BYTES_MAX,
  KeptLimit,
  TEXT_BYTES_MAX,
  emptyFile,
  fieldsOf,
  fileTooLarge,
  invalidForm,
  type BodyReader,
  type InputName,
  type MediaBodyEvent,
  type MediaBodyOptions,
} from './media-body.ts'
import { SIGNATURE_BYTES, isImage, mediaTypeOf, type MediaType } from './media-signature.ts'
import { MediaString } from './media-string.ts'
import { MultipartSplitter, type PartHead, type PartSink } from './multipart-splitter.ts'
import { plainText } from './string-syntax.ts'

/** A body with more parts is meant to be slow to read. */
const PARTS_MAX = 10_000
/** The name under which official clients send a file, image or video. */
const ANY_FILE = 'input_reference'
/** The name under which they send the link or the data URL of an image. */
const IMAGE_REFERENCE = 'input_reference[image_url]'

/** The part that is being read. */
type Part = MediaString | FilePart | TextPart | undefined

/**
 * Reads a `multipart/form-data` body in the same way as `MediaBodyReader` reads a JSON body. The parts that are media
 * inputs become events: files, and texts that are links, ids, data URLs or base64. An input may have several parts. All
 * other texts are kept as strings; files under other names are dropped. A name that ends in `[]` is the name of an
 * array.
 *
 * Throws `malformed_request` for a body that is not a form, `ambiguous_field`, and `invalid_field` for a value that is
 * too large.
 */
export class MultipartBodyReader implements BodyReader, PartSink {
  readonly #options: Required<MediaBodyOptions>
  readonly #limit: KeptLimit
  readonly #splitter: MultipartSplitter
  readonly #head: Uint8Array
  #part: Part
  #parts = 0
  #keptBytes = 0
  #events: MediaBodyEvent[] = []
  /** Members of a JSON object, as text. */
  readonly #members: string[] = []
  /** The elements of arrays, as JSON. */
  readonly #arrays = new Map<string, string[]>()

  constructor(
    boundary: string,
    {
      textBytesMax = TEXT_BYTES_MAX,
      keptBytesMax = KEPT_BYTES_MAX,
      fileBytesMax = FILE_BYTES_MAX,
      ...options
    }: MediaBodyOptions,
  ) {
    this.#options = { ...options, textBytesMax, keptBytesMax, fileBytesMax }
    this.#limit = new KeptLimit(keptBytesMax)
    this.#splitter = new MultipartSplitter(boundary, this)
    this.#head = new Uint8Array(textBytesMax)
  }

  get bufferedBytes(): number {
    return this.#keptBytes + this.#head.length
  }

  feed(bytes: Bytes): readonly MediaBodyEvent[] {
    this.#events = []
    this.#splitter.feed(bytes)
    return this.#events
  }

  end(): Readonly<Record<string, unknown>> {
    this.#splitter.end()
    const arrays = [...this.#arrays].map(([name, items]) => `${JSON.stringify(name)}:[${items.join(',')}]`)
    const text = `{${[...this.#members, ...arrays].join(',')}}`
    return fieldsOf({ text, byteLength: new TextEncoder().encode(text).length }, this.#options)
  }

  onPart({ name, isFile }: PartHead): void {
    this.#parts += 1
    if (this.#parts > PARTS_MAX) throw invalidForm(`it has more than ${PARTS_MAX} parts`)
    this.#part = this.#partFor(name, isFile)
  }

  onContent(bytes: Bytes, start: number, end: number): void {
    const part = this.#part
    if (part instanceof TextPart) {
      this.#keep(end - start)
      part.push(bytes, start, end)
    } else part?.push(bytes, start, end, this.#events)
  }

  onPartEnd(): void {
    const part = this.#part
    this.#part = undefined
    if (part instanceof MediaString) this.#keep(part.finish(this.#events))
    else if (part instanceof FilePart) part.finish(this.#events)
    else if (part instanceof TextPart) this.#addText(part)
  }

  #partFor(name: string, isFile: boolean): Part {
    const { fileBytesMax, names } = this.#options
    const input = this.#inputOf(name)
    if (input !== undefined && !isFile) {
      return new MediaString({ name: input, syntax: plainText(), head: this.#head, fileBytesMax })
    }
    const isAnyFile = name === ANY_FILE && names.has('video')
    if (isFile && (input !== undefined || isAnyFile)) return new FilePart(input, fileBytesMax)
    this.#keep(name.length)
    if (!isFile) return new TextPart(name)
    // Null counts as absent. The name is still checked.
    this.#members.push(`${JSON.stringify(name)}:null`)
    return undefined
  }

  #inputOf(name: string): InputName | undefined {
    const input = name === IMAGE_REFERENCE ? 'image' : (withoutBrackets(name) as InputName)
    return this.#options.names.has(input) ? input : undefined
  }

  #addText(part: TextPart): void {
    const value = JSON.stringify(part.text())
    const name = withoutBrackets(part.name)
    const array = this.#arrays.get(name)
    if (name === part.name) this.#members.push(`${JSON.stringify(name)}:${value}`)
    else if (array === undefined) this.#arrays.set(name, [value])
    else array.push(value)
  }

  #keep(bytes: number): void {
    this.#limit.add(bytes)
    this.#keptBytes += bytes
  }
}

function withoutBrackets(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name
}

/** A file of a form, while it arrives. Its first bytes are kept until they show its format. */
class FilePart {
  readonly #name: InputName | undefined
  readonly #bytesMax: number
  readonly #start = new Uint8Array(SIGNATURE_BYTES)
  #length = 0
  #isStarted = false

  /** Without a name, it is an image or a video by its format. */
  constructor(name: InputName | undefined, bytesMax: number) {
    this.#name = name
    this.#bytesMax = bytesMax
  }

  push(bytes: Bytes, from: number, to: number, events: MediaBodyEvent[]): void {
    let at = from
    if (!this.#isStarted) {
      at = Math.min(to, from + SIGNATURE_BYTES - this.#length)
      this.#start.set(bytes.subarray(from, at), this.#length)
    }
    this.#length += to - from
    if (this.#length > this.#bytesMax) throw fileTooLarge(this.#name ?? ANY_FILE, this.#bytesMax)
    if (!this.#isStarted && this.#length >= SIGNATURE_BYTES) this.#begin(events)
    if (this.#isStarted && to > at) events.push({ event: 'file_bytes', bytes: bytes.subarray(at, to) })
  }

  finish(events: MediaBodyEvent[]): void {
    if (this.#length === 0) throw emptyFile(this.#name ?? ANY_FILE)
    if (!this.#isStarted) this.#begin(events)
    events.push({ event: 'file_end' })
  }

  #begin(events: MediaBodyEvent[]): void {
    this.#isStarted = true
    const start = this.#start.subarray(0, this.#length)
    const mediaType = mediaTypeOf(start)
    events.push({ event: 'file_start', name: this.#name ?? nameFor(mediaType), mediaType })
    events.push({ event: 'file_bytes', bytes: start })
  }
}

function nameFor(type: MediaType | undefined): InputName {
  return type === undefined || isImage(type) ? 'image' : 'video'
}

/** A text part of a form, while it arrives. The caller limits its length. */
class TextPart {
  readonly name: string
  readonly #pieces: Uint8Array[] = []
  #length = 0

  constructor(name: string) {
    this.name = name
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.#pieces.push(bytes.slice(start, end))
    this.#length += end - start
  }

  /** The whole text. Throws `malformed_request` if it is not UTF-8. */
  text(): string {
    const whole = new Uint8Array(this.#length)
    let at = 0
    for (const piece of this.#pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    return plainText().textOf(whole)
  }
}
