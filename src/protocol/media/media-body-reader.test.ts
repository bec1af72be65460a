import { Buffer } from 'node:buffer'
import { createHash, type Hash } from 'node:crypto'
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../domain/errors.ts'
import {
  FILE_BYTES_MAX,
  KEPT_BYTES_MAX,
  TEXT_BYTES_MAX,
  type MediaBodyEvent,
  type MediaBodyOptions,
} from './media-body.ts'
import { MediaBodyReader } from './media-body-reader.ts'

const options: MediaBodyOptions = {
  names: new Set(['image', 'image_urls']),
  fields: new Set(['model', 'prompt']),
}

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const LONG_PNG = Buffer.concat([PNG, Buffer.alloc(2 * TEXT_BYTES_MAX, 'pixels')])
const LONG_UNKNOWN = Buffer.alloc(2 * TEXT_BYTES_MAX, 'neither image nor video')

type Input = {
  readonly name: string
  readonly text?: string
  readonly file?: string
  readonly mediaType?: string | undefined
}

/**
 * What a body comes to: links and files by name, and the members that are not inputs. A file is given by its bytes in
 * Latin-1.
 */
function readBody(body: string | Uint8Array, limits: Partial<MediaBodyOptions> = {}) {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const reader = new MediaBodyReader({ ...options, ...limits })
  const inputs: Input[] = []
  let file: { name: string; mediaType: string | undefined; parts: Uint8Array[] } | undefined
  for (let at = 0; at < bytes.length; at += 1000) {
    for (const event of reader.feed(bytes.subarray(at, at + 1000))) {
      if (event.event === 'text') inputs.push({ name: event.name, text: event.text })
      else if (event.event === 'file_start') file = { ...event, parts: [] }
      else if (event.event === 'file_bytes') file!.parts.push(event.bytes)
      else {
        const { name, mediaType, parts } = file!
        if (event.event === 'file_end')
          inputs.push({ name, mediaType, file: Buffer.concat(parts).toString('latin1') })
        file = undefined
      }
    }
  }
  return { fields: reader.end(), inputs }
}

function refusalOf(run: () => unknown): { code: string; param: string | undefined; message: string } {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError)
      return { code: error.code, param: error.extras.param, message: error.message }
    throw error
  }
  throw new Error('It was accepted.')
}

const bodyWith = (image: unknown) => JSON.stringify({ model: 'm', image })
const inputsOf = (image: unknown) => readBody(bodyWith(image)).inputs
const png = (bytes: Buffer) => ({ name: 'image', mediaType: 'image/png', file: bytes.toString('latin1') })

test.each([
  ['a data URL without content', 'data:image/png;base64,'],
  ['a data URL of line ends', 'data:image/png;base64,\r\n'],
  ['a data URL without a type', 'data:;base64,'],
  ['a data URL with no encoding', 'data:image/png,'],
  ['a data URL with nothing at all', 'data:,'],
  ['a data URL of spaces behind spaces', ' DATA:, '],
  ['a long data URL of spaces', `data:image/png;base64,${' '.repeat(TEXT_BYTES_MAX)}`],
])('a file of zero bytes, %s, is refused', (_, text) => {
  expect(refusalOf(() => inputsOf(text))).toMatchObject({ code: 'invalid_field', param: 'image' })
})

describe('a short string of an input', () => {
  test.each([
    ['a link', 'https://example.com/cat.png?x=1'],
    ['an id of the provider', '550e8400-e29b-41d4-a716-446655440000'],
    ['base64 of an unknown format', 'c29tZSB0ZXh0'],
    ['a text', 'not a file: "quoted", \\ and \n é 😀'],
    ['an empty text', ''],
    ['a data URL without base64', 'data:image/svg+xml,<svg/>'],
    ['a data URL whose base64 is cut', 'data:image/png;base64,iVBORw0KG'],
  ])('a short string that is %s comes as text', (_kind, text) => {
    expect(inputsOf(text)).toEqual([{ name: 'image', text }])
  })

  test.each([
    ['base64', PNG.toString('base64')],
    ['URL-safe base64', PNG.toString('base64url')],
    ['base64 without padding', PNG.toString('base64').replaceAll('=', '')],
    ['base64 in lines', PNG.toString('base64').replaceAll(/.{8}/g, '$&\r\n')],
    ['a data URL', `data:image/png;base64,${PNG.toString('base64')}`],
    ['a data URL of another type', `DATA:text/plain;charset=utf-8;BASE64,${PNG.toString('base64')}`],
    ['a data URL without a type', `data:;base64,${PNG.toString('base64')}`],
  ])(
    'a short string that is %s of an image comes as a file, with the type of its signature',
    (_kind, text) => {
      expect(inputsOf(text)).toEqual([png(PNG)])
    },
  )

  test('a short data URL of an unknown format comes as a file without a type', () => {
    expect(inputsOf(`data:image/png;base64,${btoa('some text')}`)).toEqual([
      { name: 'image', mediaType: undefined, file: 'some text' },
    ])
  })
})

describe('a long string of an input', () => {
  test.each([
    ['base64', LONG_PNG.toString('base64')],
    ['URL-safe base64', LONG_PNG.toString('base64url')],
    ['base64 in lines', LONG_PNG.toString('base64').replaceAll(/.{76}/g, '$&\r\n')],
    ['a data URL', `data:image/png;base64,${LONG_PNG.toString('base64')}`],
  ])('a long string that is %s comes as a file', (_kind, text) => {
    expect(inputsOf(text)).toEqual([png(LONG_PNG)])
  })

  test('a long string may have escaped slashes, as PHP writes them, and escapes for other characters', () => {
    const text = `data:image/png;base64,${LONG_PNG.toString('base64')}`
    const escaped = text.replaceAll('/', '\\/').replaceAll('C', '\\u0043')

    expect(readBody(`{"image":"${escaped}"}`).inputs).toEqual([png(LONG_PNG)])
  })

  test('a long string of an unknown format comes as a file without a type', () => {
    expect(inputsOf(LONG_UNKNOWN.toString('base64'))).toEqual([
      { name: 'image', mediaType: undefined, file: LONG_UNKNOWN.toString('latin1') },
    ])
  })

  test.each([
    ['a link', `https://example.com/${'a'.repeat(TEXT_BYTES_MAX)}`],
    ['a text', 'no base64, '.repeat(TEXT_BYTES_MAX)],
    ['a text with escapes', 'é\n"\\ '.repeat(TEXT_BYTES_MAX)],
    ['a data URL without base64', `data:image/svg+xml,${'<g/>'.repeat(TEXT_BYTES_MAX)}`],
    ['base64 with an invalid end', `${LONG_PNG.toString('base64')}!`],
    ['base64 that is cut within a byte', 'A'.repeat(2 * TEXT_BYTES_MAX + 1)],
    ['base64 behind padding', `${'A'.repeat(2 * TEXT_BYTES_MAX)}AA==AAAA`],
    ['base64 with too much padding', `${'A'.repeat(2 * TEXT_BYTES_MAX)}AA===`],
    ['base64 with too little padding', `${'A'.repeat(2 * TEXT_BYTES_MAX)}AA=`],
    ['base64 with a letter that is not ASCII', `${'A'.repeat(2 * TEXT_BYTES_MAX)}é`],
  ])('a long string that is %s is dropped', (_kind, text) => {
    expect(readBody(JSON.stringify({ model: 'm', image: [text, PNG.toString('base64')] }))).toEqual({
      fields: { model: 'm' },
      inputs: [png(PNG)],
    })
  })

  test('a long string whose start is not base64 makes no file at all', () => {
    const reader = new MediaBodyReader(options)

    const events = reader.feed(new TextEncoder().encode(bodyWith('no base64, '.repeat(TEXT_BYTES_MAX))))

    expect(events).toEqual([])
  })

  test('a long string whose end is not base64 takes its file back', () => {
    const reader = new MediaBodyReader(options)

    const events = reader.feed(new TextEncoder().encode(bodyWith(`${'A'.repeat(2 * TEXT_BYTES_MAX)}!`)))

    expect(events[0]).toMatchObject({ event: 'file_start' })
    expect(events.at(-1)).toEqual({ event: 'file_invalid' })
  })
})

describe('an input', () => {
  test('an input may be an array, whose strings come in their order', () => {
    const link = 'https://example.com/1.png'

    expect(inputsOf([link, PNG.toString('base64'), 'x', LONG_PNG.toString('base64')])).toEqual([
      { name: 'image', text: link },
      png(PNG),
      { name: 'image', text: 'x' },
      png(LONG_PNG),
    ])
  })

  test('an input has its own name, in any order of the members', () => {
    const { inputs, fields } = readBody('{"image_urls":["a","b"],"model":"m","image":"c","prompt":"p"}')

    expect(inputs).toEqual([
      { name: 'image_urls', text: 'a' },
      { name: 'image_urls', text: 'b' },
      { name: 'image', text: 'c' },
    ])
    expect(fields).toEqual({ model: 'm', prompt: 'p' })
  })

  test('an input may have escapes in its name', () => {
    expect(readBody('{"im\\u0061ge":"x"}').inputs).toEqual([{ name: 'image', text: 'x' }])
  })

  test.each([
    ['null'],
    ['1'],
    ['true'],
    ['{}'],
    ['{"url":"x"}'],
    ['[]'],
    ['[null,1,false,["x"],{"image":"x"},{}]'],
    ['[[["x"]],{"a":["x"]}]'],
  ])('an input has no strings in %s', image => {
    expect(readBody(`{"model":"m","image":${image}}`)).toEqual({ fields: { model: 'm' }, inputs: [] })
  })

  test('an input is read behind elements that are not strings', () => {
    expect(inputsOf([['x'], { image: ['y'] }, 'a', 2, 'b'])).toEqual([
      { name: 'image', text: 'a' },
      { name: 'image', text: 'b' },
    ])
  })

  test('an input is a member of the top level only', () => {
    const fields = { model: 'm', extra: { image: 'x', list: [{ image: 'y' }] } }

    expect(readBody(JSON.stringify(fields))).toEqual({ fields, inputs: [] })
  })
})

test('all other members come as JSON.parse gives them', () => {
  const text =
    '{ "model": "m", "a": [1.5, -0, 1e3, "é\\n\\ud83d\\ude00", {"b": null}],\r\n\t"__proto__": {"c": true}, "": "" }'

  const { fields } = readBody(text)

  expect(JSON.stringify(fields)).toBe(JSON.stringify(JSON.parse(text)))
})

describe('a body that is not a JSON object is refused', () => {
  const long = LONG_PNG.toString('base64')

  test.each([
    ['nothing', ''],
    ['spaces', ' \n\t\r '],
    ['an array', '[{"image":"x"}]'],
    ['a string', '"image"'],
    ['a number', '1'],
    ['null', 'null'],
    ['a form', '--boundary\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--boundary--'],
    ['no end', '{"image":"x"'],
    ['no end of a string', '{"image":"x'],
    ['no end of a long string', `{"image":"${long}`],
    ['no end of a name', '{"image'],
    ['two objects', '{"image":"x"}{}'],
    ['text behind it', '{"image":"x"} x'],
    ['a comma too many', '{"image":["x",]}'],
    ['no comma', '{"image":["x" "y"]}'],
    ['no colon', '{"image" "x"}'],
    ['no name', '{:"x"}'],
    ['a name without quotes', '{image:"x"}'],
    ['single quotes', "{'image':'x'}"],
    ['the wrong bracket', '{"image":["x"}'],
    ['two values', '{"image":"x" 1}'],
    ['digits with a space between them', '{"a":1 2}'],
    ['a word with a space in it', '{"a":tr ue}'],
    ['a line end in a short string', '{"image":"a\nb"}'],
    ['a line end in a long string', `{"image":"${long}\n"}`],
    ['a line end in a long dropped string', `{"image":"!${long}\n"}`],
    ['a NUL in the head of a long string', `{"image":"\0${long}"}`],
    ['an unknown escape in a short string', '{"image":"\\x"}'],
    ['an unknown escape in a long string', `{"image":"${long}\\x"}`],
    ['an escape with too few digits in a long string', `{"image":"${long}\\u00"}`],
    ['an escape with a wrong digit in a long string', `{"image":"${long}\\u00g0"}`],
    ['a wrong escape in a data URL', `{"image":"data:\\x;base64,${long}"}`],
    ['an escape at the end of a body', `{"image":"${long}\\`],
  ])('a body that is not a JSON object is refused: %s', (_kind, body) => {
    expect(refusalOf(() => readBody(body)).code).toBe('invalid_json')
  })

  test.each([
    ['another member', Buffer.from('{"a":"\xff"}', 'latin1')],
    ['an input', Buffer.from('{"image":"\xff"}', 'latin1')],
    ['a name', Buffer.from('{"\xc3":"x"}', 'latin1')],
  ])('one that is not UTF-8 in %s', (_where, body) => {
    expect(refusalOf(() => readBody(body)).code).toBe('invalid_json')
  })

  test('a body that does not begin as a JSON object is refused before it is read to its end', () => {
    const reader = new MediaBodyReader(options)

    const refusal = refusalOf(() => reader.feed(new TextEncoder().encode('--boundary\r\n')))

    expect(refusal.code).toBe('invalid_json')
  })

  test('a body that nests a million levels deep is either read or refused', () => {
    const depth = 500_000
    let outcome = 'read'
    try {
      readBody(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    } catch (error) {
      outcome = (error as GatewayError).code
    }

    expect(['read', 'invalid_json']).toContain(outcome)
  })
})

describe('a name that parsers could take for another one is refused', () => {
  test.each([
    ['an input twice', '{"image":"x","image":"y"}', 'image'],
    ['an input twice, once with an escape', '{"image":"x","im\\u0061ge":"y"}', 'image'],
    ['an input in another case', '{"Image":"x"}', 'image'],
    ['an input with a long s', '{"image_url\u017f":"x"}', 'image_urls'],
    ['a field twice', '{"model":"a","image":"x","model":"b"}', 'model'],
    ['a field in another case', '{"MODEL":"a"}', 'model'],
  ])('a name that parsers could take for another one is refused: %s', (_kind, body, param) => {
    expect(refusalOf(() => readBody(body))).toMatchObject({ code: 'ambiguous_field', param })
  })

  test('the names that the gateway does not read may repeat', () => {
    expect(readBody('{"x":1,"x":2,"X":3}').fields).toEqual({ x: 2, X: 3 })
  })
})

describe('a byte order mark', () => {
  test('a byte order mark is skipped, also in pieces', () => {
    const reader = new MediaBodyReader(options)
    for (const byte of Buffer.from('\uFEFF{"model":"x"}')) reader.feed(Buffer.from([byte]))

    expect(reader.end()).toEqual({ model: 'x' })
  })

  test.each([
    ['twice', '\uFEFF\uFEFF{}'],
    ['behind a space', ' \uFEFF{}'],
  ])('a byte order mark is refused %s', (_, body) => {
    expect(() => new MediaBodyReader(options).feed(Buffer.from(body))).toThrow('JSON object')
  })

  test('a part of a byte order mark is refused', () => {
    expect(() => new MediaBodyReader(options).feed(Buffer.from([0xef, 0xbb, 0x7b]))).toThrow('part of')
  })
})

describe('limits', () => {
  const threeBytes = btoa('abc')

  test.each([
    ['short', 8, (bytes: number) => `data:;base64,${btoa('x'.repeat(bytes))}`],
    ['long', 30_000, (bytes: number) => btoa('x'.repeat(bytes))],
  ])('a %s file may have as many bytes as the limit, and not one more', (_kind, fileBytesMax, textOf) => {
    const read = (bytes: number) => readBody(bodyWith(['a', textOf(bytes)]), { fileBytesMax })

    expect(read(fileBytesMax).inputs).toHaveLength(2)
    for (const more of [1, 2, 3, 100]) {
      expect(refusalOf(() => read(fileBytesMax + more))).toMatchObject({
        code: 'invalid_field',
        param: 'image',
      })
    }
  })

  test('a file of more than 80 MB is refused with a sentence that says so', () => {
    const reader = new MediaBodyReader(options)
    reader.feed(new TextEncoder().encode('{"image":"'))
    const piece = new Uint8Array(4 * 1024 * 1024).fill('A'.charCodeAt(0))
    let fed = 0

    const refusal = refusalOf(() => {
      for (; fed < 200 * 1024 * 1024; fed += piece.length) reader.feed(piece)
    })

    expect(refusal.message).toBe('"image" has a file of more than 80 MB. Send a smaller one.')
    // Four characters are three bytes.
    expect(fed).toBeLessThanOrEqual((FILE_BYTES_MAX / 3) * 4)
    expect(fed).toBeGreaterThan((FILE_BYTES_MAX / 3) * 4 - 2 * piece.length)
  })

  test('each file has its own limit', () => {
    const files = Array.from({ length: 10 }, () => `data:;base64,${threeBytes}`)

    expect(readBody(bodyWith(files), { fileBytesMax: 3 }).inputs).toHaveLength(10)
  })

  test('the members that are not inputs may have 4 MB together', () => {
    const bodyOf = (length: number) => `{"model":"m","a":"${'x'.repeat(length)}","image":"x"}`
    const others = bodyOf(0).length

    expect(readBody(bodyOf(KEPT_BYTES_MAX - others)).fields['a']).toHaveLength(KEPT_BYTES_MAX - others)
    expect(refusalOf(() => readBody(bodyOf(KEPT_BYTES_MAX)))).toMatchObject({
      code: 'invalid_field',
      message: expect.stringContaining('4096 KB') as string,
    })
  })

  test('links count against the same limit, and files do not', () => {
    const link = `https://example.com/${'x'.repeat(1000)}`
    const file = `data:;base64,${btoa('x'.repeat(1000))}`
    const limits = { keptBytesMax: 20_000 }

    expect(readBody(bodyWith(Array.from({ length: 100 }, () => file)), limits).inputs).toHaveLength(100)
    expect(readBody(bodyWith(Array.from({ length: 15 }, () => link)), limits).inputs).toHaveLength(15)
    expect(refusalOf(() => readBody(bodyWith(Array.from({ length: 25 }, () => link)), limits)).code).toBe(
      'invalid_field',
    )
  })

  test('spaces between the tokens do not count', () => {
    const spaces = ' \r\n\t'.repeat(5000)

    const { fields } = readBody(`${spaces}{${spaces}"a"${spaces}:${spaces}1${spaces}}${spaces}`, {
      keptBytesMax: 100,
    })

    expect(fields).toEqual({ a: 1 })
  })
})

test('of 20 files of 20 MB in one body, at most one piece is in memory', () => {
  const FILES = 20
  const block = Buffer.alloc(48 * 1024)
  for (let at = 0; at < block.length; at += 1) block[at] = (at * 7919) >> 3
  const piece = new TextEncoder().encode(block.toString('base64'))
  const blocks = Math.ceil((20 * 1024 * 1024) / block.length)
  const reader = new MediaBodyReader(options)
  let buffered = 0
  let given = 0
  const files: { bytes: number; readonly hash: Hash }[] = []
  const feed = (bytes: Uint8Array) => {
    const events: readonly MediaBodyEvent[] = reader.feed(bytes)
    const inEvents = events.reduce(
      (sum, event) => sum + (event.event === 'file_bytes' ? event.bytes.length : 0),
      0,
    )
    buffered = Math.max(buffered, reader.bufferedBytes)
    given = Math.max(given, inEvents)
    for (const event of events) {
      if (event.event === 'file_start') files.push({ bytes: 0, hash: createHash('sha256') })
      if (event.event !== 'file_bytes') continue
      files.at(-1)!.hash.update(event.bytes)
      files.at(-1)!.bytes += event.bytes.length
    }
  }

  feed(new TextEncoder().encode('{"model":"m","image":['))
  for (let file = 0; file < FILES; file += 1) {
    feed(new TextEncoder().encode(file === 0 ? '"data:image/png;base64,' : ',"data:image/png;base64,'))
    for (let index = 0; index < blocks; index += 1) feed(piece)
    feed(new TextEncoder().encode('"'))
  }
  feed(new TextEncoder().encode(']}'))
  const fields = reader.end()

  const whole = createHash('sha256')
  for (let index = 0; index < blocks; index += 1) whole.update(block)
  const expected = { bytes: blocks * block.length, hash: whole.digest('hex') }
  expect(files.map(({ bytes, hash }) => ({ bytes, hash: hash.digest('hex') }))).toEqual(
    Array.from({ length: FILES }, () => expected),
  )
  expect(fields).toEqual({ model: 'm' })
  expect(buffered).toBeLessThanOrEqual(TEXT_BYTES_MAX + 4096)
  expect(given).toBeLessThanOrEqual(block.length + TEXT_BYTES_MAX)
})
