import { invalidForm } from './media-body.ts'

/** A boundary with other characters, or a longer one, is not allowed in a content type. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/

/** The boundary that a `content-type` names; undefined if it is not `multipart/form-data` with a valid boundary. */
export function multipartBoundary(contentType: string): string | undefined {
  const [type = '', ...params] = contentType.split(';')
  if (type.trim().toLowerCase() !== 'multipart/form-data') return undefined
  for (const param of params) {
    const [, quoted, plain] = /^\s*boundary=(?:"([^"]*)"|([^\s"]*))\s*$/i.exec(param) ?? []
    const boundary = quoted ?? plain
    if (boundary !== undefined) return BOUNDARY.test(boundary) ? boundary : undefined
  }
  return undefined
}

const CR = 0x0d
const LINE_END = '\r\n'
/** Of the header lines of one part, and of the rest of a boundary's line. */
const HEAD_BYTES_MAX = 16 * 1024

/** Receives the parts of a form. */
export type PartSink = {
  onPart(head: PartHead): void
  /** The next bytes of the part: those of `bytes` from `start` to `end`. */
  onContent(bytes: Uint8Array, start: number, end: number): void
  onPartEnd(): void
}

/**
 * Splits a multipart body into its parts. Its bytes may arrive in pieces of any size. Throws `malformed_request` for
 * any other body.
 */
export class MultipartSplitter {
  readonly #sink: PartSink
  /** The separator between two parts. */
  readonly #delimiter: Uint8Array
  /** `preamble` is the text before the first part. It is dropped, like everything after the last part. */
  #state: 'preamble' | 'boundary_line' | 'head' | 'content' | 'epilogue' = 'preamble'
  /** How much of a delimiter the last bytes ended with. The line end before the first one is not needed. */
  #matched = LINE_END.length
  /** The bytes so far of a head or of the rest of a boundary's line. */
  #line = ''

  constructor(boundary: string, sink: PartSink) {
    this.#sink = sink
    this.#delimiter = new TextEncoder().encode(`${LINE_END}--${boundary}`)
  }

  feed(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.#state !== 'epilogue';) {
      const isContent = this.#state === 'content' || this.#state === 'preamble'
      at = isContent ? this.#feedContent(bytes, at) : this.#feedLine(bytes, at)
    }
  }

  /** The body has ended. */
  end(): void {
    if (this.#state !== 'epilogue') throw invalidForm('its last boundary is missing')
  }

  /** Takes content up to the next delimiter. Returns the position after it. */
  #feedContent(bytes: Uint8Array, from: number): number {
    const at = this.#resumeDelimiter(bytes, from)
    if (at === bytes.length || this.#state === 'boundary_line') return at
    let start = at
    for (;;) {
      const found = indexOrEnd(bytes, start)
      const matched = this.#matchLength(bytes, found)
      const end = found + matched
      const isDelimiter = matched === this.#delimiter.length
      if (isDelimiter || end === bytes.length) {
        this.#give(bytes, at, found)
        this.#matched = isDelimiter ? 0 : matched
        if (isDelimiter) this.#endContent()
        return end
      }
      // A delimiter has no second CR.
      start = end
    }
  }

  /** Continues a delimiter that began in the previous bytes. If it is not a delimiter, these bytes were content. */
  #resumeDelimiter(bytes: Uint8Array, from: number): number {
    if (this.#matched === 0) return from
    let at = from
    while (at < bytes.length && this.#matched < this.#delimiter.length) {
      if (bytes[at] !== this.#delimiter[this.#matched]) {
        this.#give(this.#delimiter, 0, this.#matched)
        this.#matched = 0
        return at
      }
      this.#matched += 1
      at += 1
    }
    if (this.#matched === this.#delimiter.length) {
      this.#matched = 0
      this.#endContent()
    }
    return at
  }

  /** How many bytes from `at` are those of a delimiter. */
  #matchLength(bytes: Uint8Array, at: number): number {
    let length = 0
    while (length < this.#delimiter.length && at + length < bytes.length) {
      if (bytes[at + length] !== this.#delimiter[length]) break
      length += 1
    }
    return length
  }

  #give(bytes: Uint8Array, start: number, end: number): void {
    if (this.#state === 'content' && end > start) this.#sink.onContent(bytes, start, end)
  }

  #endContent(): void {
    if (this.#state === 'content') this.#sink.onPartEnd()
    this.#state = 'boundary_line'
    this.#line = ''
  }

  /** Takes one byte of the rest of a boundary's line, or of a head. */
  #feedLine(bytes: Uint8Array, at: number): number {
    this.#line += String.fromCharCode(bytes[at] ?? 0)
    if (this.#state === 'head') this.#tryHead()
    else this.#tryBoundaryLine()
    if (this.#line.length > HEAD_BYTES_MAX) throw invalidForm('the headers of a part are too long')
    return at + 1
  }

  #tryBoundaryLine(): void {
    if (this.#line === '--') this.#state = 'epilogue'
    else if (/^[ \t]*\r\n$/.test(this.#line)) {
      this.#state = 'head'
      this.#line = ''
    } else if (!/^(?:-|[ \t]*\r?)$/.test(this.#line))
      throw invalidForm('a boundary is followed by other text')
  }

  #tryHead(): void {
    const isEmpty = this.#line === LINE_END
    if (!isEmpty && !this.#line.endsWith(LINE_END + LINE_END)) return
    const lines = this.#line.slice(0, isEmpty ? 0 : -2 * LINE_END.length)
    this.#state = 'content'
    this.#sink.onPart(readPartHead(Uint8Array.from(lines, char => char.charCodeAt(0))))
  }
}

function indexOrEnd(bytes: Uint8Array, from: number): number {
  const index = bytes.indexOf(CR, from)
  return index < 0 ? bytes.length : index
}

export type PartHead = {
  readonly name: string
  /** It has a file name, which may be empty. */
  readonly isFile: boolean
}

const utf8 = new TextDecoder()

/** Reads the header lines of a part, without the empty line behind them. */
function readPartHead(bytes: Uint8Array): PartHead {
  for (const line of utf8.decode(bytes).split('\r\n')) {
    const [, value] = /^content-disposition:(.*)$/is.exec(line) ?? []
    if (value !== undefined) return dispositionOf(value)
  }
  throw invalidForm('a part has no content-disposition header')
}

function dispositionOf(value: string): PartHead {
  if (!/^\s*form-data\s*(?:;|$)/i.test(value)) throw invalidForm('a part is not form-data')
  let name: string | undefined
  let isFile = false
  for (const [, key = '', quoted, plain] of value.matchAll(
    /;\s*([^=;\s]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))/g,
  )) {
    const param = key.toLowerCase()
    // Browsers write a quote as %22, and other clients with a backslash.
    if (param === 'name') name ??= quoted?.replaceAll(/\\(.)/g, '$1').replaceAll('%22', '"') ?? plain
    if (param === 'filename' || param === 'filename*') isFile = true
  }
  if (name === undefined || name === '') throw invalidForm('a part has no name')
  return { name, isFile }
}
