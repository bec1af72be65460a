import fc from 'fast-check'

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 })

const hex = (code: number) => code.toString(16).padStart(4, '0')

/** The content of a string: raw characters and every kind of escape, including lone surrogates. */
const stringPiece = fc.oneof(
  fc.string({ unit: 'grapheme' }).map(raw => raw.replaceAll(/[\p{Cc}"\\]/gu, '')),
  fc.constantFrom(
    '\\"',
    '\\\\',
    '\\/',
    '\\b',
    '\\n',
    '\\u0022',
    '\\u005c',
    '\\u0000',
    '{',
    '}',
    '[',
    ']',
    ',',
  ),
  fc.integer({ min: 0, max: 0xffff }).map(code => `\\u${hex(code)}`),
  fc.integer({ min: 0xd800, max: 0xdfff }).map(code => `\\u${hex(code).toUpperCase()}`),
  fc.constantFrom('😀', '👩‍👩‍👧', 'é', '漢字', '\u2028', '\u007f', 'x'.repeat(40)),
)

const string = fc.array(stringPiece, { maxLength: 6 }).map(pieces => `"${pieces.join('')}"`)

const number = fc.oneof(
  fc.constantFrom('1.0', '12345678901234567890', '1e400', '-0', '0.10', '1E+2', '-1.5e-7', '0'),
  fc.integer().map(String),
)

const list = (items: fc.Arbitrary<string>, open: string, close: string) =>
  fc
    .tuple(space, fc.array(fc.tuple(space, items, space), { maxLength: 5 }))
    .map(([inner, parts]) =>
      parts.length === 0 ? open + inner + close : open + parts.map(part => part.join('')).join(',') + close,
    )

const memberWith = (value: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.oneof(string, fc.constantFrom('"a"', '"b"', '"__proto__"', '"0"')), space, space, value)
    .map(([key, before, after, text]) => `${key}${before}:${after}${text}`)

/** Texts of JSON values that no serializer would write: odd spaces, escapes and numbers, and repeated keys. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(string, number, fc.constantFrom('true', 'false', 'null')),
    list(tie('value'), '[', ']'),
    list(memberWith(tie('value')), '{', '}'),
  ),
})).value

/** The text of one member, `"key": value`, with any spaces around the colon. */
export const jsonMemberText = memberWith(jsonText)

/** The text of an object from the texts of its members, in order, with odd spaces. */
export function jsonObjectText(memberTexts: readonly string[]): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(space, space), { minLength: memberTexts.length + 1, maxLength: memberTexts.length + 1 })
    .map(spaces => {
      const [outer, ...around] = spaces as [[string, string], ...[string, string][]]
      const parts = memberTexts.map((member, index) => around[index]![0] + member + around[index]![1])
      return `${outer[0]}{${parts.join(',')}}${outer[1]}`
    })
}
