import { invalidJson } from '../json/parse-json.ts'
import { invalidForm } from './invalid-form.ts'
import { JsonUnescaper } from './json-unescaper.ts'

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
