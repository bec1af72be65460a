import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Bytes } from '../../domain/bytes.ts'
import { GatewayError } from '../../domain/errors.ts'
import { KEPT_BYTES_MAX, TEXT_BYTES_MAX, type MediaBodyOptions } from './media-body.ts'
import { multipartBoundary } from './multipart-splitter.ts'
import { MultipartBodyReader } from './multipart-body-reader.ts'

const fixtures = join(import.meta.dirname, '../../../test/fixtures/media')
const PNG = readFileSync(join(fixtures, 'image.png'))
const MP4 = readFileSync(join(fixtures, 'clip.mp4'))
const BOUNDARY = 'xYz'

const options: MediaBodyOptions = {
  names: new Set(['image', 'image_urls', 'video']),
  fields: new Set(['model', 'prompt', 'scenes']),
}

type Input =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly mediaType: string | undefined; readonly file: string }

/** The result of a body. A file is given by its bytes in Latin-1. */
function readPieces(pieces: Iterable<Bytes>, boundary: string, limits: Partial<MediaBodyOptions> = {}) {
  const reader = new MultipartBodyReader(boundary, { ...options, ...limits })
  const inputs: Input[] = []
  let file: { name: string; mediaType: string | undefined; parts: Uint8Array[] } | undefined
  for (const piece of pieces) {
    for (const event of reader.feed(piece)) {
      if (event.event === 'text') inputs.push({ name: event.name, text: event.text })
      else if (event.event === 'file_start') file = { ...event, parts: [] }
      // The next piece may be in the same memory.
      else if (event.event === 'file_bytes') file!.parts.push(event.bytes.slice())
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

function* cut(body: Uint8Array, length: number): Generator<Bytes> {
  for (let at = 0; at < body.length; at += length) yield Uint8Array.from(body.subarray(at, at + length))
}

const read = (body: string | Buffer, limits: Partial<MediaBodyOptions> = {}) =>
  readPieces([Uint8Array.from(Buffer.from(body))], BOUNDARY, limits)

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

/** A part with these header lines and this content. */
const part = (head: string, content: string | Buffer) =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')])
const field = (name: string, content: string | Buffer) =>
  part(`Content-Disposition: form-data; name="${name}"`, content)
const upload = (name: string, content: Buffer) =>
  part(
    `Content-Disposition: form-data; name="${name}"; filename="a.bin"\r\nContent-Type: application/octet-stream`,
    content,
  )
const form = (...parts: readonly Buffer[]) => Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])

const png = { mediaType: 'image/png', file: PNG.toString('latin1') }
const mp4 = { mediaType: 'video/mp4', file: MP4.toString('latin1') }

describe('a form of a real client', () => {
  async function sent(data: FormData) {
    const request = new Request('http://localhost/', { method: 'POST', body: data })
    const boundary = multipartBoundary(request.headers.get('content-type') ?? '')!
    const body = new Uint8Array(await request.arrayBuffer())
    return [1, 7, 64, 1000, body.length].map(length => readPieces(cut(body, length), boundary))
  }

  test('a form of a real client is read, however it is cut', async () => {
    const data = new FormData()
    data.append('model', 'film-1')
    data.append('prompt', 'a cat\r\n--and a dog, é 😀 "quoted"')
    data.append('seconds', '8')
    data.append('input_reference', new Blob([PNG], { type: 'image/png' }), 'cat "1".png')
    data.append('image_urls', 'https://example.com/1.png')
    data.append('image_urls', 'https://example.com/2.png')
    data.append('video', new Blob([MP4]), 'clip.mp4')

    const results = await sent(data)

    const expected = {
      fields: { model: 'film-1', prompt: 'a cat\r\n--and a dog, é 😀 "quoted"', seconds: '8' },
      inputs: [
        { name: 'image', ...png },
        { name: 'image_urls', text: 'https://example.com/1.png' },
        { name: 'image_urls', text: 'https://example.com/2.png' },
        { name: 'video', ...mp4 },
      ],
    }
    for (const result of results) expect(result).toEqual(expected)
  })

  test('a form of a real client may have no parts but empty ones', async () => {
    const data = new FormData()
    data.append('prompt', '')

    const [result] = await sent(data)

    expect(result).toEqual({ fields: { prompt: '' }, inputs: [] })
  })

  test.each(['', 'a.png'])(
    'a form of a real client with an empty file of the name "%s" is refused',
    async name => {
      const data = new FormData()
      data.append('image', new Blob([]), name)

      const refusal = await sent(data).catch((error: unknown) => error)

      expect(refusal).toMatchObject({ code: 'invalid_field', extras: { param: 'image' } })
    },
  )
})

test('any content is read back, however it is cut', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 100 }).map(content => Buffer.from(content)),
    // Beginnings of delimiters.
    fc
      .array(
        fc.constantFrom(
          '\r',
          '\n',
          '\r\n',
          '-',
          '--',
          `--${BOUNDARY.slice(0, 2)}`,
          'x',
          '\r\n--x',
          '\r\r\n--xY',
        ),
        { maxLength: 8 },
      )
      .map(all => Buffer.from(all.join(''))),
  )
  const notEmpty = bytes.filter(({ length }) => length > 0)
  fc.assert(
    fc.property(fc.array(notEmpty, { maxLength: 4 }), fc.integer({ min: 1, max: 40 }), (files, length) => {
      const body = form(...files.map(file => upload('image', file)))

      const { inputs } = readPieces(cut(body, length), BOUNDARY)

      expect(inputs.map(input => 'file' in input && input.file)).toEqual(
        files.map(file => file.toString('latin1')),
      )
    }),
    { numRuns: 500 },
  )
})

describe('a part', () => {
  test.each([
    ['a link', 'https://example.com/cat.png', { text: 'https://example.com/cat.png' }],
    ['an id', '550e8400-e29b-41d4-a716-446655440000', { text: '550e8400-e29b-41d4-a716-446655440000' }],
    ['a text with a backslash', 'a\\u0041\\', { text: 'a\\u0041\\' }],
    ['a data URL', `data:image/png;base64,${PNG.toString('base64')}`, png],
    ['base64', PNG.toString('base64').replaceAll(/.{10}/g, '$&\r\n'), png],
  ])('a part with text that is %s is an input as in JSON', (_kind, content, expected) => {
    expect(read(form(field('image', content))).inputs).toEqual([{ name: 'image', ...expected }])
  })

  test('a part with a long text is an input as in JSON', () => {
    const file = Buffer.concat([PNG, Buffer.alloc(2 * TEXT_BYTES_MAX, '\xff')])
    const url = `data:image/png;base64,${file.toString('base64').replaceAll(/.{76}/g, '$&\r\n')}`

    const { inputs } = read(form(field('image', url), field('image', 'no base64, '.repeat(TEXT_BYTES_MAX))))

    expect(inputs).toEqual([{ name: 'image', mediaType: 'image/png', file: file.toString('latin1') }])
  })

  test.each([
    ['image[]', 'image', PNG, png],
    ['video', 'video', MP4, mp4],
    ['input_reference', 'image', PNG, png],
    ['input_reference', 'video', MP4, mp4],
    ['input_reference', 'image', Buffer.from('?'), { mediaType: undefined, file: '?' }],
    // The name counts, not the format.
    ['video', 'video', PNG, png],
  ])('a part with a file named %s is the input %s', (name, input, content, expected) => {
    expect(read(form(upload(name, content))).inputs).toEqual([{ name: input, ...expected }])
  })

  test('a part with a file under another name is dropped', () => {
    const { fields, inputs } = read(form(upload('mask', PNG), field('model', 'm')))

    expect(inputs).toEqual([])
    expect(fields).toEqual({ mask: null, model: 'm' })
  })

  test('a part of an array is one of its elements', () => {
    const body = form(
      field('scenes[]', 'one'),
      field('model', 'm'),
      field('scenes[]', 'two'),
      field('x[]', 'y'),
    )

    expect(read(body).fields).toEqual({ model: 'm', scenes: ['one', 'two'], x: ['y'] })
  })

  test.each([
    ['content-disposition:form-data;name=image', 'image'],
    ['CONTENT-DISPOSITION: Form-Data; NAME="image"', 'image'],
    ['Content-Type: text/plain; name="no"\r\nContent-Disposition: form-data; name="image"', 'image'],
    ['Content-Disposition: form-data; x="a;name=no"; name="image"', 'image'],
    ['Content-Disposition: form-data; x="a\\";name=no"; name="image"', 'image'],
  ])('a part has its name in its header: %j', (head, name) => {
    expect(read(form(part(head, 'x'))).inputs).toEqual([{ name, text: 'x' }])
  })

  test.each([
    ['form-data; name="a%22b"', 'a"b'],
    ['form-data; name="a\\"b"', 'a"b'],
    ['form-data; name="é"', 'é'],
    ['form-data; name="__proto__"', '__proto__'],
  ])('a part may have any name: %s', (disposition, name) => {
    expect(Object.entries(read(form(part(`Content-Disposition: ${disposition}`, 'x'))).fields)).toEqual([
      [name, 'x'],
    ])
  })

  test.each(['filename="a.png"', 'filename=""', "filename*=UTF-8''a.png"])(
    'a part is a file if it has %s',
    filename => {
      const head = `Content-Disposition: form-data; name="image"; ${filename}`

      expect(read(form(part(head, PNG))).inputs).toEqual([{ name: 'image', ...png }])
    },
  )
})

describe('text around the parts is dropped', () => {
  test.each([
    ['a preamble', `for old clients\r\n-- \r\n${form(field('model', 'm')).toString()}`],
    ['a line end before the first boundary', `\r\n${form(field('model', 'm')).toString()}`],
    ['an epilogue', `${form(field('model', 'm')).toString()}more\r\n--${BOUNDARY}\r\nContent`],
    ['no line end behind the last boundary', form(field('model', 'm')).toString().trimEnd()],
    [
      'spaces behind a boundary',
      form(field('model', 'm')).toString().replace(`${BOUNDARY}\r`, `${BOUNDARY} \t\r`),
    ],
  ])('text around the parts is dropped: %s', (_what, body) => {
    expect(read(body).fields).toEqual({ model: 'm' })
  })
})

describe('a body that is not a form is refused', () => {
  const whole = form(field('model', 'm')).toString()

  test.each([
    ['nothing', ''],
    ['JSON', '{"model":"m"}'],
    ['another boundary', whole.replaceAll(BOUNDARY, 'other')],
    ['no last boundary', whole.slice(0, whole.lastIndexOf('\r\n--'))],
    ['half of the last boundary', whole.slice(0, -4)],
    ['one hyphen behind the last boundary', whole.slice(0, -3)],
    ['text behind a boundary', whole.replace(BOUNDARY, `${BOUNDARY}more`)],
    ['hyphens behind a boundary', whole.replace(BOUNDARY, `${BOUNDARY}-x`)],
    ['a head that does not end', `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n`],
    ['a part without a disposition', form(part('Content-Type: text/plain', 'x'))],
    ['a part without headers', `--${BOUNDARY}\r\n\r\nx\r\n--${BOUNDARY}--`],
    ['a part without a name', form(part('Content-Disposition: form-data', 'x'))],
    ['a part with an empty name', form(field('', 'x'))],
    ['a part that is an attachment', form(part('Content-Disposition: attachment; name="a"', 'x'))],
    ['a text that is not UTF-8', form(field('prompt', Buffer.from('\xff', 'latin1')))],
    ['a text of an input that is not UTF-8', form(field('image', Buffer.from('\xff', 'latin1')))],
    [
      'a head that is too long',
      form(part(`X: ${'x'.repeat(20_000)}\r\nContent-Disposition: form-data; name="a"`, 'x')),
    ],
    ['too many parts', form(...Array.from({ length: 10_001 }, () => field('x', '')))],
  ])('a body that is not a form is refused: %s', (_what, body) => {
    expect(refusalOf(() => read(body)).code).toBe('malformed_request')
  })
})

describe('a name that parsers could take for another one is refused', () => {
  test.each([
    ['a field twice', [field('model', 'a'), field('model', 'b')], 'model'],
    ['a field in another case', [field('Model', 'a')], 'model'],
    ['a field that is also an array', [field('scenes', 'a'), field('scenes[]', 'b')], 'scenes'],
    ['an input in another case', [field('Image', 'a')], 'image'],
    ['a file in another case', [upload('Image', PNG)], 'image'],
  ])('a name that parsers could take for another one is refused: %s', (_what, parts, param) => {
    expect(refusalOf(() => read(form(...parts)))).toMatchObject({ code: 'ambiguous_field', param })
  })
})

describe('limits', () => {
  test('a file may have as many bytes as the limit, and not one more', () => {
    const limits = { fileBytesMax: PNG.length }

    expect(read(form(upload('image', PNG), upload('image', PNG)), limits).inputs).toHaveLength(2)
    expect(refusalOf(() => read(form(upload('image', PNG)), { fileBytesMax: PNG.length - 1 }))).toMatchObject(
      {
        code: 'invalid_field',
        param: 'image',
      },
    )
    expect(refusalOf(() => read(form(upload('input_reference', MP4)), limits)).param).toBe('input_reference')
  })

  test('the texts may have 1 MB together', () => {
    const bodyOf = (length: number) =>
      form(field('model', 'm'), field('a', 'x'.repeat(length)), field('image', 'link'))
    const others = 'model'.length + 'm'.length + 'a'.length + 'link'.length

    expect(read(bodyOf(KEPT_BYTES_MAX - others)).fields['a']).toHaveLength(KEPT_BYTES_MAX - others)
    expect(refusalOf(() => read(bodyOf(KEPT_BYTES_MAX - others + 1))).code).toBe('invalid_field')
  })

  test('the names of dropped files count too', () => {
    const parts = Array.from({ length: 30 }, (_, index) => upload(`${'n'.repeat(1000)}${index}`, PNG))

    expect(refusalOf(() => read(form(...parts), { keptBytesMax: 20_000 })).code).toBe('invalid_field')
  })

  test('a file that is longer than memory is given as it comes', () => {
    const piece = new Uint8Array(64 * 1024)
    for (let at = 0; at < piece.length; at += 1) piece[at] = (at * 7919) >> 4
    const reader = new MultipartBodyReader(BOUNDARY, { ...options, fileBytesMax: Infinity })
    const [head = ''] = upload('video', Buffer.alloc(0)).toString().split('\r\n\r\n')
    const hash = createHash('sha256')
    const expected = createHash('sha256')
    let buffered = 0
    const feed = (bytes: Bytes) => {
      for (const event of reader.feed(bytes)) if (event.event === 'file_bytes') hash.update(event.bytes)
      buffered = Math.max(buffered, reader.bufferedBytes)
    }

    feed(Uint8Array.from(Buffer.from(`${head}\r\n\r\n`)))
    for (let index = 0; index < 1600; index += 1) {
      feed(piece)
      expected.update(piece)
    }
    feed(Uint8Array.from(Buffer.from(`\r\n--${BOUNDARY}--`)))

    expect(reader.end()).toEqual({})
    expect(hash.digest('hex')).toBe(expected.digest('hex'))
    expect(buffered).toBeLessThanOrEqual(TEXT_BYTES_MAX)
  })
})

describe('the boundary of a content type', () => {
  test.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['multipart/form-data;boundary="a b:c"', 'a b:c'],
    ['Multipart/Form-Data; charset=utf-8; BOUNDARY=----WebKitFormBoundaryx1Y2', '----WebKitFormBoundaryx1Y2'],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  ])('the boundary is read from the content type %s', (contentType, boundary) => {
    expect(multipartBoundary(contentType)).toBe(boundary)
  })

  test.each([
    '',
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="ends with a space "',
    'multipart/form-data; boundary="line\r\nend"',
    'multipart/form-data; boundary=é',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'multipart/mixed; boundary=abc',
    'application/json; boundary=abc',
  ])('the boundary of a content type is missing in %p', contentType => {
    expect(multipartBoundary(contentType)).toBeUndefined()
  })
})
