import { invalidJson } from '../json/parse-json.ts'
import type { Unescaped } from './string-syntax.ts'

const BACKSLASH = 0x5c

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Decodes the escapes in the content of a JSON string that arrives in pieces. Throws `invalid_json` for escapes that
 * JSON does not have.
 */
export class JsonUnescaper {
  /** The beginning of an escape that the last piece cut. */
  #partial = ''

  push(raw: Uint8Array, from: number, to: number, sink: Unescaped): void {
    let at = from
    while (at < to) {
      if (this.#partial !== '') {
        this.#takeEscape(raw[at] ?? 0, sink)
        at += 1
        continue
      }
      const found = raw.subarray(at, to).indexOf(BACKSLASH)
      const end = found < 0 ? to : at + found
      if (end > at) sink.onRun(raw, at, end)
      if (found >= 0) this.#partial = '\\'
      at = end + 1
    }
  }

  /** The string has ended. */
  finish(): void {
    if (this.#partial !== '') throw invalidJson('a string ends within an escape')
  }

  #takeEscape(byte: number, sink: Unescaped): void {
    const escape = this.#partial + String.fromCharCode(byte)
    this.#partial = escape
    if (escape === '\\u') return
    const code = escape.startsWith('\\u') ? hexCode(escape) : SHORT_ESCAPES[escape.charAt(1)]?.charCodeAt(0)
    if (code === 'partial') return
    if (code === undefined) throw invalidJson('a string has an escape that JSON does not have')
    this.#partial = ''
    sink.onEscaped(code)
  }
}

function hexCode(escape: string): number | 'partial' | undefined {
  const digits = escape.slice(2)
  if (!/^[0-9a-f]+$/i.test(digits)) return undefined
  return digits.length < 4 ? 'partial' : Number.parseInt(digits, 16)
}
