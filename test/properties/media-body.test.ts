import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { InputName } from '../../src/protocol/media/media-body.ts'
import { MediaBodyReader } from '../../src/protocol/media/media-body-reader.ts'
import { bytesOfInput, dataUrlContent, decodeBase64 } from '../../src/protocol/media/media-string.ts'
import { jsonMemberText, jsonObjectText, jsonText } from './json-texts.ts'

const NAMES = ['image', 'ref_images'] as const
const names: ReadonlySet<InputName> = new Set(NAMES)
const fields: ReadonlySet<string> = new Set(['model', 'a'])
/** Small, so that most strings are longer. */
const TEXT_BYTES_MAX = 24
const CUTS_MAX = 200
const RUNS = 300

type Input = { readonly name: string } & ({ readonly text: string } | { readonly file: string | null })
type Outcome = { readonly fields: unknown; readonly inputs: readonly Input[] } | string

const base64 = fc
  .tuple(fc.uint8Array({ maxLength: 60 }), fc.boolean(), fc.boolean())
  .map(([bytes, isUrlSafe, isPadded]) => {
    const text = Buffer.from(bytes).toString(isUrlSafe ? 'base64url' : 'base64')
    return isPadded ? text.padEnd(4 * Math.ceil(text.length / 4), '=') : text.replaceAll('=', '')
  })

/**
 * The content of a JSON string: base64 as encoders write it, with line ends and escaped slashes, and often something
 * wrong.
 */
const inputString = fc
  .tuple(
    fc.constantFrom(
      '',
      '',
      'data:image/png;base64,',
      'data:;base64,',
      'data:text/plain,',
      'https:\\/\\/a.example/',
    ),
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: base64 },
        { weight: 1, arbitrary: fc.constantFrom('\\n', '\\r\\n', ' ') },
      ),
      {
        maxLength: 4,
      },
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '!',
          '=',
          '\\u0041',
          '\\t',
          'é',
          '\\"',
          '\\\\',
          '\\ud800',
          '\\u000g',
          '\\x',
          '\t',
          '\0',
        ),
      },
    ),
    fc.boolean(),
  )
  .map(([prefix, parts, extra, isEscaped]) => {
    const content = parts.join('')
    return `"${prefix}${isEscaped ? content.replaceAll('/', '\\/') : content}${extra}"`
  })

const inputValue = fc.oneof(
  inputString,
  fc
    .array(fc.oneof({ weight: 4, arbitrary: inputString }, { weight: 1, arbitrary: jsonText }), {
      maxLength: 4,
    })
    .map(all => `[${all.join(', ')}]`),
  jsonText,
)

const inputMember = fc
  .tuple(fc.constantFrom(...NAMES, 'im\\u0061ge'), inputValue)
  .map(([name, value]) => `"${name}":${value}`)

/** The text of an object with media inputs, valid or not. */
const body = fc
  .array(fc.oneof(inputMember, jsonMemberText), { maxLength: 4 })
  .chain(jsonObjectText)
  .chain(text =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(text) },
      // A character is missing, doubled or another one.
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.nat(text.length), fc.constantFrom('', '"', '\\', ',', '}', '{', ':', '[', ' ', '1'))
          .map(([at, char]) => text.slice(0, at) + char + text.slice(at + (char === '' ? 1 : 0))),
      },
    ),
  )

/** Reads a text that comes in the given pieces. A refusal is its code. */
function read(pieces: readonly Uint8Array[]): Outcome {
  const reader = new MediaBodyReader({ names, fields, textBytesMax: TEXT_BYTES_MAX })
  const inputs: Input[] = []
  let file: { readonly name: string; readonly parts: Uint8Array[] } | undefined
  try {
    for (const piece of pieces) {
      for (const event of reader.feed(piece)) {
        if (event.event === 'text') inputs.push({ name: event.name, text: event.text })
        else if (event.event === 'file_start') file = { name: event.name, parts: [] }
        else if (event.event === 'file_bytes') file!.parts.push(event.bytes)
        else {
          if (event.event === 'file_end')
            inputs.push({ name: file!.name, file: Buffer.concat(file!.parts).toString('hex') })
          file = undefined
        }
      }
    }
    return { fields: reader.end(), inputs }
  } catch (error) {
    return (error as { code: string }).code
  }
}

/** The same by way of JSON.parse, with the whole text in memory. */
function parse(text: string): Outcome {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(text) as Record<string, unknown>
  } catch {
    return 'invalid_json'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'invalid_json'
  if (rawInputs(text).some(isEmptyFile)) return 'invalid_field'
  const others = Object.entries(value).filter(([key]) => !(NAMES as readonly string[]).includes(key))
  return { fields: Object.fromEntries(others), inputs: rawInputs(text).flatMap(inputOf) }
}

/**
 * The strings of media inputs as they are written, quotes included, in their order. The text is valid and has no
 * duplicates.
 */
function rawInputs(text: string): { readonly name: string; readonly raw: string }[] {
  const found: { readonly name: string; readonly raw: string }[] = []
  let depth = 0
  let name = ''
  let last = ''
  const containers: string[] = []
  for (const token of text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g) ?? []) {
    if (token === ':' && depth === 1) name = JSON.parse(last) as string
    const isDirect = depth === 1 ? last === ':' : depth === 2 && containers[1] === '['
    if (token.startsWith('"') && isDirect && (NAMES as readonly string[]).includes(name))
      found.push({ name, raw: token })
    if (token === '{' || token === '[') containers[depth] = token
    depth += token === '{' || token === '[' ? 1 : token === '}' || token === ']' ? -1 : 0
    last = token
  }
  return found
}

/**
 * A file of zero bytes is refused: a data URL with nothing behind its comma, in any encoding, or a long text of spaces.
 */
function isEmptyFile({ raw }: { readonly raw: string }): boolean {
  const text = JSON.parse(raw) as string
  const isBlank = (content: string) => /^[\t\n\r ]*$/.test(content)
  if (Buffer.byteLength(raw) - 2 > TEXT_BYTES_MAX) return isBlank(text.slice(dataUrlContent(text) ?? 0))
  const comma = text.indexOf(',')
  return comma >= 0 && /^[\t\n\r ]*data:/i.test(text.slice(0, comma)) && isBlank(text.slice(comma + 1))
}

function inputOf({ name, raw }: { readonly name: string; readonly raw: string }): Input[] {
  const text = JSON.parse(raw) as string
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  if (Buffer.byteLength(raw) - 2 <= TEXT_BYTES_MAX) {
    const bytes = bytesOfInput(text)
    return [bytes === undefined ? { name, text } : { name, file: hex(bytes) }]
  }
  const content = text.slice(dataUrlContent(text) ?? 0)
  const bytes = decodeBase64(content)
  return bytes === undefined ? [] : [{ name, file: hex(bytes) }]
}

/** A text byte by byte, and all ways to cut it in two; of a long text, some of these. */
function cuts(bytes: Uint8Array): Uint8Array[][] {
  const step = Math.max(1, Math.ceil(bytes.length / CUTS_MAX))
  const halves = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) => [
    bytes.subarray(0, index * step),
    bytes.subarray(index * step),
  ])
  return [Array.from(bytes, byte => Uint8Array.of(byte)), ...halves]
}

function kindOf(outcome: Outcome): string {
  if (typeof outcome === 'string') return outcome
  return outcome.inputs.some(input => 'file' in input) ? 'files' : 'none'
}

test('a body is read as JSON.parse reads it, however it is cut', () => {
  fc.assert(
    fc.property(body, drawn => {
      const bytes = new TextEncoder().encode(drawn)
      // Without lone surrogates, which UTF-8 does not have.
      const text = new TextDecoder().decode(bytes)
      const whole = read([bytes])

      const expected = parse(text)
      // An empty file is refused at once. Whether the rest is valid JSON is known at the end.
      if (whole === 'invalid_field') expect(['invalid_field', 'invalid_json']).toContain(expected as string)
      // Duplicates are refused; JSON.parse knows none.
      else if (whole !== 'ambiguous_field') expect(whole).toEqual(expected)
      else expect(expected).not.toBe('invalid_json')
      for (const pieces of cuts(bytes)) {
        const again = read(pieces)
        if (!Bun.deepEquals(again, whole, true)) expect(again).toEqual(whole)
      }
    }),
    { numRuns: RUNS },
  )
})

test('the bodies of this property are of every kind', () => {
  // One body in 30 has files. The seed is fixed, because among random ones there may be none.
  const bodies = fc.sample(body, { numRuns: RUNS, seed: 1 })

  const kinds = new Set(bodies.map(text => kindOf(read([new TextEncoder().encode(text)]))))

  expect([...kinds].sort()).toEqual(['ambiguous_field', 'files', 'invalid_field', 'invalid_json', 'none'])
})
