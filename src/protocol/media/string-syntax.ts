import { invalidJson } from '../json/parse-json.ts'
import { invalidForm } from './media-body.ts'

/** How the characters of a string are written. One for each string, because it may keep the beginning of an escape. */
export type StringSyntax = {
  /** The decoded text of a whole string. Throws if it is not valid. */
  textOf(raw: Uint8Array): string
  /** Takes the next part of a string and passes on its decoded content. Throws for invalid escapes. */
  push(raw: Uint8Array, from: number, to: number, sink: Unescaped): void
  /** The string has ended. */
  finish(): void
  /** Throws for characters that must not be in a string without an escape. */
  check(bytes: Uint8Array, start: number, end: number): void
}

/** Receives the content of a string. */
export type Unescaped = {
  /** Characters that mean themselves: those of `bytes` from `start` to `end`. They are not checked. */
  onRun(bytes: Uint8Array, start: number, end: number): void
  /** One UTF-16 code unit that was escaped. */
  onEscaped(code: number): void
}

const FIRST_PLAIN = 0x20

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text between the quotes of a JSON string. */
export function jsonString(): StringSyntax {
  const unescaper = new JsonUnescaper()
  return {
    textOf(raw) {
      try {
        return JSON.parse(`"${utf8.decode(raw)}"`) as string
      } catch (cause) {
        throw invalidJson('a string is not valid', cause)
      }
    },
    push: (raw, from, to, sink) => unescaper.push(raw, from, to, sink),
    finish: () => unescaper.finish(),
    check(bytes, start, end) {
      for (let at = start; at < end; at += 1) {
        if ((bytes[at] ?? 0) < FIRST_PLAIN) {
          throw invalidJson('a string has a control character that is not escaped')
        }
      }
    },
  }
}

/** A text in which all characters mean themselves, such as that of a form. */
export function plainText(): StringSyntax {
  return {
    textOf(raw) {
      try {
        return utf8.decode(raw)
      } catch (cause) {
        throw invalidForm('a text part is not UTF-8', cause)
      }
    },
    push(raw, from, to, sink) {
      if (to > from) sink.onRun(raw, from, to)
    },
    finish() {},
    check() {},
  }
}

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
class JsonUnescaper {
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
