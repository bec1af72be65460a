import { FilePart } from './file-part.ts'
import { fieldsOf } from './fields-of.ts'
import type { InputName } from './input-names.ts'
import { invalidForm } from './invalid-form.ts'
import { KeptLimit } from './kept-json.ts'
import {
  FILE_BYTES_MAX,
  KEPT_BYTES_MAX,
  TEXT_BYTES_MAX,
  type BodyReader,
  type MediaBodyEvent,
  type MediaBodyOptions,
} from './media-body-events.ts'
import { MediaString } from './media-string.ts'
import { MultipartSplitter, type PartSink } from './multipart-splitter.ts'
import type { PartHead } from './part-head.ts'
import { plainText } from './string-syntax.ts'
import { TextPart } from './text-part.ts'

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

  feed(bytes: Uint8Array<ArrayBuffer>): readonly MediaBodyEvent[] {
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

  onContent(bytes: Uint8Array<ArrayBuffer>, start: number, end: number): void {
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
    const { fileBytesMax } = this.#options
    const input = this.#inputOf(name)
    if (input !== undefined && !isFile) {
      return new MediaString({ name: input, syntax: plainText(), head: this.#head, fileBytesMax })
    }
    if (isFile && (input !== undefined || name === ANY_FILE)) return new FilePart(input, fileBytesMax)
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
