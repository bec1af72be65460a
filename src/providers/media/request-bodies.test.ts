import { describe, expect, test } from 'bun:test'
import { bytesOf, failingStream, streamOf, type TestStream } from '../../../test/support/byte-streams.ts'
import { bytesInput } from '../../../test/support/media-calls.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { joinedBody, jsonParts, type InputBytes } from './request-bodies.ts'

const bytes = new Uint8Array(Array.from({ length: 1000 }, (_, index) => (index * 7) % 256))

function anInput(stream: () => TestStream, length: number): InputBytes {
  return { from: 'bytes', bytes: length, mediaType: 'image/png', open: async () => stream() }
}

describe('a joined body', () => {
  test('a joined body has its texts and inputs in their order, and declares its length', async () => {
    const body = joinedBody(['a', 'ü', bytesInput(bytes, 'image/png', 300), '', 'z'])

    const joined = await bytesOf(body.stream)

    expect(joined).toEqual(Buffer.concat([Buffer.from('aü'), bytes, Buffer.from('z')]))
    expect(body.length).toBe(joined.length)
  })

  test.each([
    [0, 10],
    [1, 1],
    [2, 1],
    [3, 2],
    [1000, 1],
    [1000, 4],
    [999, 100],
  ])('a joined body encodes %d bytes in base64 from pieces of %d bytes', async (length, piece) => {
    const body = joinedBody(['"', { base64: bytesInput(bytes.slice(0, length), 'image/png', piece) }, '"'])

    const joined = await bytesOf(body.stream)

    expect(joined.toString()).toBe(`"${Buffer.from(bytes.slice(0, length)).toString('base64')}"`)
    expect(body.length).toBe(joined.length)
  })

  test('a joined body opens an input only when its turn comes, and reads it as it is read', async () => {
    const stream = streamOf([bytes.slice(0, 400), bytes.slice(400)])
    let opened = 0
    const input = anInput(() => {
      opened += 1
      return stream
    }, 1000)
    const body = joinedBody(['start', input])

    await body.stream.read()
    expect(opened).toBe(0)
    await body.stream.read()

    expect([opened, stream.reads]).toEqual([1, 1])
  })

  test.each([999, 1001])(
    'a joined body fails if an input has %d bytes fewer or more than it declares',
    async declared => {
      const body = joinedBody([anInput(() => streamOf([bytes]), declared), 'end'])

      const error = await rejection(bytesOf(body.stream))

      expect((error as Error).message).toBe(`An input of ${declared} bytes has 1000.`)
    },
  )

  test('a joined body fails if an input breaks or cannot be opened', async () => {
    const broken = new Error('disk')
    const failing = anInput(() => failingStream([bytes], broken), 2000)
    const missing: InputBytes = { ...failing, open: () => Promise.reject(broken) }

    expect(await rejection(bytesOf(joinedBody([failing]).stream))).toBe(broken)
    expect(await rejection(bytesOf(joinedBody(['a', missing]).stream))).toBe(broken)
  })

  test('a joined body cancels the input that is being read when it is cancelled', async () => {
    const stream = streamOf([bytes.slice(0, 400), bytes.slice(400)])
    const body = joinedBody([anInput(() => stream, 1000), 'end'])
    await body.stream.read()

    body.stream.cancel()

    expect(await body.stream.read()).toBeUndefined()
    expect(stream.isCancelled).toBe(true)
  })
})

describe('a JSON object with inputs', () => {
  test('a JSON object with inputs is the JSON of its members, with bytes in base64, and without undefined ones', async () => {
    const input = bytesInput(bytes.slice(0, 4))
    const base64 = Buffer.from(bytes.slice(0, 4)).toString('base64')

    const body = joinedBody(
      jsonParts({
        'a"b': 'ü\n',
        none: undefined,
        n: 0.5,
        yes: true,
        image: input,
        list: ['x', input, []],
        last: 1,
      }),
    )

    expect(JSON.parse((await bytesOf(body.stream)).toString())).toEqual({
      'a"b': 'ü\n',
      n: 0.5,
      yes: true,
      image: base64,
      list: ['x', base64, []],
      last: 1,
    })
  })

  test('a JSON object with inputs may have objects and data URLs in it', async () => {
    const input = bytesInput(bytes.slice(0, 4), 'image/webp')
    const base64 = Buffer.from(bytes.slice(0, 4)).toString('base64')

    const body = joinedBody(
      jsonParts({
        image: { data: input, type: input.mediaType, none: undefined },
        list: [{ url: { dataUrl: input } }],
      }),
    )

    expect(JSON.parse((await bytesOf(body.stream)).toString())).toEqual({
      image: { data: base64, type: 'image/webp' },
      list: [{ url: `data:image/webp;base64,${base64}` }],
    })
  })

  test('a JSON object with inputs may be empty', async () => {
    expect((await bytesOf(joinedBody(jsonParts({ none: undefined })).stream)).toString()).toBe('{}')
  })
})
