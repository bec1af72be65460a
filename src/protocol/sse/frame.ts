import type { Bytes } from '../../domain/bytes.ts'
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const BYTE_ORDER_MARK_BYTES = 3

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Ends a frame that may be open. Between two frames it has no effect. */
export const BLANK_LINE = encoder.encode('\n\n')

/** The content of a frame. */
export type SseEvent = {
  /** The name on its `event:` line; empty when it has none. */
  readonly name: string
  /** Its data lines, joined by line feeds; undefined when it has none, such as a comment. */
  readonly data: string | undefined
}

/** Reads one whole frame. */
export function readFrame(bytes: Uint8Array): SseEvent {
  const text = decoder.decode(bytes)
  if (isOneDataLine(text)) return { name: '', data: text.slice(text[5] === ' ' ? 6 : 5, -2) }
  let name = ''
  let data: string | undefined
  for (const line of text.split(/\r\n|\n|\r/)) {
    const value = fieldValue(line)
    if (line.startsWith('event:')) name = value
    // A line without a colon is a field with an empty value.
    else if (line.startsWith('data:') || line === 'data')
      data = data === undefined ? value : `${data}\n${value}`
  }
  return { name, data }
}

/** A frame with one data line. `data` contains no line end, like any output of JSON.stringify. */
export function dataFrame(data: string): Bytes {
  return encoder.encode(`data: ${data}\n\n`)
}

/**
 * The frame with spaces instead of everything except the data, at the same offsets, so that its JSON can be scanned in
 * place even when it spans several data lines. Returns the same frame when that changes nothing.
 */
export function dataInPlace(bytes: Bytes): Bytes {
  const isOneLine = bytes.indexOf(LF) === bytes.length - 2 && bytes[bytes.length - 1] === LF
  if (isOneLine && isDataLine(bytes, 0) && !bytes.includes(CR)) return bytes
  const blanked = bytes.slice()
  let lineStart = hasByteOrderMark(bytes) ? BYTE_ORDER_MARK_BYTES : 0
  blanked.fill(SPACE, 0, lineStart)
  for (let at = lineStart; at <= bytes.length; at += 1) {
    if (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) continue
    blanked.fill(SPACE, lineStart, isDataLine(bytes, lineStart) ? lineStart + 'data:'.length : at)
    lineStart = at + 1
  }
  return blanked
}

/** Whether the frame is one data line, as nearly every frame is. */
function isOneDataLine(text: string): boolean {
  const lineEnd = text.length - 2
  return (
    text.startsWith('data:') && text.indexOf('\n') === lineEnd && text.endsWith('\n') && !text.includes('\r')
  )
}

/** Whether the line that starts at `start` is a data line. */
export function isDataLine(bytes: Uint8Array, start: number): boolean {
  return (
    bytes[start] === 0x64 &&
    bytes[start + 1] === 0x61 &&
    bytes[start + 2] === 0x74 &&
    bytes[start + 3] === 0x61 &&
    bytes[start + 4] === 0x3a
  )
}

/** A stream may start with a byte order mark. TextDecoder drops it, but the bytes still have it. */
function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

/** The text after the colon, without one leading space. */
function fieldValue(line: string): string {
  const colon = line.indexOf(':')
  if (colon === -1) return ''
  return line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
}
