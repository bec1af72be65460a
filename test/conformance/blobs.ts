import { createHash } from 'node:crypto'
import { describe, expect, test } from 'bun:test'
import {
  BlobTooLargeError,
  type Blobs,
  type BlobRange,
  type OpenBlob,
} from '../../src/gateway/ports/media/blobs.ts'
import { bytesOf, failingStream, streamOf, streamOfText, textOf } from '../support/byte-streams.ts'
import { rejection } from '../support/rejection.ts'

const UNLIMITED = { bytesMax: Number.MAX_SAFE_INTEGER }
/** An instant that every blob of a test is older than. */
const LATER = { olderThanMs: Number.MAX_SAFE_INTEGER }
const KEY = 'vid_01jd0000000000000000000000/out-0'

/** What any blob store must do. Run by stores/disk/blobs.test.ts, and by each store to come. */
export function blobsConform(open: () => Promise<Blobs>): void {
  async function opened(texts: Readonly<Record<string, string>> = {}): Promise<Blobs> {
    const blobs = await open()
    for (const [key, text] of Object.entries(texts)) await blobs.write(key, streamOfText(text), UNLIMITED)
    return blobs
  }

  async function textAt(blobs: Blobs, key: string, range?: BlobRange): Promise<string | undefined> {
    const blob = await blobs.read(key, range)
    return blob === undefined ? undefined : textOf(blob.stream)
  }

  async function keysOf(blobs: Blobs): Promise<string[]> {
    return (await blobs.list({ limit: 1000, ...LATER })).map(({ key }) => key)
  }

  describe('writing a blob', () => {
    test('writing a blob stores the bytes and returns their number and SHA-256', async () => {
      const blobs = await opened()
      const pieces = ['one, ', 'two, ', 'three'].map(text => new TextEncoder().encode(text))

      const stored = await blobs.write(KEY, streamOf(pieces), UNLIMITED)

      const sha256 = createHash('sha256').update('one, two, three').digest('hex')
      expect(stored).toEqual({ bytes: 15, sha256 })
      expect(await textAt(blobs, KEY)).toBe('one, two, three')
    })

    test('writing a blob stores a blob of no bytes', async () => {
      const blobs = await opened()

      const { bytes } = await blobs.write(KEY, streamOf([]), { bytesMax: 0 })

      expect(bytes).toBe(0)
      expect(await textAt(blobs, KEY)).toBe('')
    })

    test('writing a blob stores megabytes in pieces of any size', async () => {
      const blobs = await opened()
      const whole = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) >> 5))
      const ends = [0, 1, 2, 70_000, 500_000, 1_700_001, whole.length]
      const pieces = ends.slice(1).map((end, index) => whole.subarray(ends[index], end))

      const stored = await blobs.write(KEY, streamOf(pieces), UNLIMITED)

      const found = await bytesOf((await blobs.read(KEY))!.stream)
      expect(stored.bytes).toBe(whole.length)
      expect(found.equals(whole)).toBe(true)
    })

    test('writing a blob shows nothing of the blob until it is whole', async () => {
      const blobs = await opened()
      const seen: unknown[] = []
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (const text of ['first half', 'second half']) {
          yield new TextEncoder().encode(text)
          seen.push(await blobs.read(KEY), await keysOf(blobs))
        }
      }

      await blobs.write(KEY, streamOf(pieces()), UNLIMITED)

      expect(seen).toEqual([undefined, [], undefined, []])
      expect(await keysOf(blobs)).toEqual([KEY])
    })

    test('writing a blob replaces an older blob', async () => {
      const blobs = await opened({ [KEY]: 'a much longer old text' })

      await blobs.write(KEY, streamOfText('new'), UNLIMITED)

      expect(await textAt(blobs, KEY)).toBe('new')
    })

    test('writing a blob twice at once leaves one of the two, whole', async () => {
      const blobs = await opened()
      const texts = ['a'.repeat(300_000), 'b'.repeat(200_000)]

      await Promise.all(texts.map(text => blobs.write(KEY, streamOfText(text), UNLIMITED)))

      expect(texts).toContain((await textAt(blobs, KEY))!)
    })

    test('writing a blob refuses one byte more than the limit, and leaves nothing', async () => {
      const blobs = await opened()
      const source = streamOf(['1234', '5678', '9'].map(text => new TextEncoder().encode(text)))

      const error = await rejection(blobs.write(KEY, source, { bytesMax: 8 }))

      expect(error).toBeInstanceOf(BlobTooLargeError)
      expect(error).toMatchObject({ bytesMax: 8 })
      expect(source.isCancelled).toBe(true)
      expect(await blobs.read(KEY)).toBeUndefined()
      expect(await keysOf(blobs)).toEqual([])
    })

    test('writing a blob accepts exactly the limit', async () => {
      const blobs = await opened()

      const { bytes } = await blobs.write(KEY, streamOfText('12345678'), { bytesMax: 8 })

      expect(bytes).toBe(8)
    })

    test('writing a blob fails with the error of its source, and leaves nothing', async () => {
      const blobs = await opened()
      const failure = new Error('The client has left.')
      const source = failingStream([new TextEncoder().encode('half')], failure)

      const error = await rejection(blobs.write(KEY, source, UNLIMITED))

      expect(error).toBe(failure)
      expect(source.isCancelled).toBe(true)
      expect(await blobs.read(KEY)).toBeUndefined()
      expect(await keysOf(blobs)).toEqual([])
    })

    test('writing a blob that fails leaves an older blob as it was', async () => {
      const blobs = await opened({ [KEY]: 'old' })
      const source = failingStream([new TextEncoder().encode('half of the new')], new Error('cut'))

      await rejection(blobs.write(KEY, source, UNLIMITED))
      await rejection(blobs.write(KEY, streamOfText('too long'), { bytesMax: 3 }))

      expect(await textAt(blobs, KEY)).toBe('old')
    })
  })

  describe('reading a blob that must be intact', () => {
    test('reading a blob that must be intact gives its bytes, or a part of them', async () => {
      const blobs = await opened()
      const stored = { key: KEY, ...(await blobs.write(KEY, streamOfText('0123456789'), UNLIMITED)) }

      const whole = await blobs.readIntact(stored)
      const part = await blobs.readIntact(stored, { start: 3, end: 5 })

      expect(await textOf((whole as OpenBlob).stream)).toBe('0123456789')
      expect(await textOf((part as OpenBlob).stream)).toBe('34')
      expect(part).toMatchObject({ bytes: 10 })
      expect(await blobs.damageOf(stored)).toBeUndefined()
    })

    test.each([
      ['removed', 'missing', (blobs: Blobs) => blobs.remove(KEY)],
      ['archived', 'missing', (blobs: Blobs) => blobs.archive(KEY)],
      ['replaced', 'changed', (blobs: Blobs) => blobs.write(KEY, streamOfText('9876543210'), UNLIMITED)],
      ['shortened', 'changed', (blobs: Blobs) => blobs.write(KEY, streamOfText('0123'), UNLIMITED)],
    ] as const)(
      'reading a blob that must be intact and was %s says that it is %s',
      async (_, damage, change) => {
        const blobs = await opened()
        const stored = { key: KEY, ...(await blobs.write(KEY, streamOfText('0123456789'), UNLIMITED)) }

        await change(blobs)

        expect(await blobs.readIntact(stored)).toBe(damage)
        expect(await blobs.damageOf(stored)).toBe(damage)
      },
    )
  })

  describe('reading a blob', () => {
    test('reading a blob gives undefined if there is none', async () => {
      const blobs = await opened({ 'img_1/out-0': 'there' })

      expect(await blobs.read('img_1/out-1')).toBeUndefined()
      expect(await blobs.read('img_1')).toBeUndefined()
    })

    test.each<[BlobRange, string]>([
      [{ start: 0, end: 10 }, '0123456789'],
      [{ start: 0, end: 1 }, '0'],
      [{ start: 3, end: 7 }, '3456'],
      [{ start: 9, end: 10 }, '9'],
      [{ start: 8, end: 1000 }, '89'],
      [{ start: 0, end: 0 }, ''],
      [{ start: 10, end: 20 }, ''],
      [{ start: 1000, end: 2000 }, ''],
      [{ start: 5, end: 2 }, ''],
    ])('reading a blob gives the bytes of %p alone, and the size of the whole', async (range, expected) => {
      const blobs = await opened({ [KEY]: '0123456789' })

      const blob = (await blobs.read(KEY, range))!

      expect(await textOf(blob.stream)).toBe(expected)
      expect(blob.bytes).toBe(10)
    })

    test('reading a blob gives a range of several pieces', async () => {
      const blobs = await opened()
      const whole = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => (index * 104_729) >> 7))
      await blobs.write(KEY, streamOf([whole]), UNLIMITED)

      const blob = (await blobs.read(KEY, { start: 12_345, end: 987_654 }))!

      expect((await bytesOf(blob.stream)).equals(whole.subarray(12_345, 987_654))).toBe(true)
    })

    test('reading a blob comes in pieces that are much smaller than a large blob', async () => {
      const blobs = await opened()
      const size = 4 * 1024 * 1024
      await blobs.write(KEY, streamOf([new Uint8Array(size)]), UNLIMITED)
      const { stream } = (await blobs.read(KEY))!

      const lengths: number[] = []
      for (let piece = await stream.read(); piece !== undefined; piece = await stream.read()) {
        lengths.push(piece.length)
      }

      expect(Math.max(...lengths)).toBeLessThanOrEqual(size / 4)
      expect(lengths.reduce((sum, length) => sum + length)).toBe(size)
    })

    test('reading a blob gives undefined again behind the end', async () => {
      const { stream } = (await (await opened({ [KEY]: 'x' })).read(KEY))!

      await stream.read()

      expect([await stream.read(), await stream.read()]).toEqual([undefined, undefined])
      stream.cancel()
    })

    test('reading a blob gives undefined once it is cancelled, which may be repeated', async () => {
      const { stream } = (await (await opened({ [KEY]: 'x'.repeat(1_000_000) })).read(KEY))!
      await stream.read()

      stream.cancel()
      stream.cancel()

      expect(await stream.read()).toBeUndefined()
    })

    test('reading a blob ends when it is cancelled in the middle of a read', async () => {
      const { stream } = (await (await opened({ [KEY]: 'x'.repeat(1_000_000) })).read(KEY))!

      const running = stream.read()
      stream.cancel()

      expect(await running).toBeUndefined()
      expect(await stream.read()).toBeUndefined()
    })

    test('reading a blob by two readers at once gives each all of it', async () => {
      const text = 'abcdefgh'.repeat(100_000)
      const blobs = await opened({ [KEY]: text })

      const [one, other] = await Promise.all([textAt(blobs, KEY), textAt(blobs, KEY)])

      expect(one === text && other === text).toBe(true)
    })
  })

  describe('removing a blob', () => {
    test('removing a blob leaves the others of its job', async () => {
      const blobs = await opened({ 'img_1/out-0': 'zero', 'img_1/out-1': 'one' })

      await blobs.remove('img_1/out-0')

      expect(await keysOf(blobs)).toEqual(['img_1/out-1'])
      expect(await blobs.read('img_1/out-0')).toBeUndefined()
    })

    test('removing a blob may be repeated, and may come before any write', async () => {
      const blobs = await opened()

      await blobs.remove(KEY)
      await blobs.write(KEY, streamOfText('x'), UNLIMITED)
      await Promise.all([blobs.remove(KEY), blobs.remove(KEY), blobs.remove(KEY)])
      await blobs.remove(KEY)

      expect(await keysOf(blobs)).toEqual([])
    })

    test('removing a blob does not lose the blobs that are written beside it at the same time', async () => {
      const blobs = await opened()
      const keys = Array.from({ length: 40 }, (_, index) => `img_1/out-${String(index).padStart(2, '0')}`)

      await Promise.all(
        keys.map(async (key, index) => {
          await blobs.write(key, streamOfText(key), UNLIMITED)
          if (index % 2 === 0) await blobs.remove(key)
        }),
      )

      expect(await keysOf(blobs)).toEqual(keys.filter((_, index) => index % 2 === 1))
    })
  })

  describe('archiving a blob', () => {
    test('archiving a blob takes it out of reach of reading, listing and removing', async () => {
      const blobs = await opened({ 'img_1/out-0': 'zero', 'img_1/out-1': 'one' })

      await blobs.archive('img_1/out-0')
      await blobs.remove('img_1/out-0')

      expect(await blobs.read('img_1/out-0')).toBeUndefined()
      expect(await keysOf(blobs)).toEqual(['img_1/out-1'])
    })

    test('archiving a blob may be repeated, also at the same time, and changes nothing if there is no blob', async () => {
      const blobs = await opened({ [KEY]: 'x' })

      await Promise.all([blobs.archive(KEY), blobs.archive(KEY), blobs.archive(KEY)])
      await blobs.archive(KEY)
      await blobs.archive('img_absent/out-0')

      expect(await keysOf(blobs)).toEqual([])
    })

    test('archiving a blob does not keep a new blob of that key from being written', async () => {
      const blobs = await opened({ [KEY]: 'old' })
      await blobs.archive(KEY)

      await blobs.write(KEY, streamOfText('new'), UNLIMITED)

      expect(await textAt(blobs, KEY)).toBe('new')
    })
  })

  describe('listing blobs', () => {
    const keys = [
      'img_1/in-0',
      'img_1/out-0',
      'img_2/out-0',
      'vid_1',
      'vid_1/in-0',
      'vid_1/out-0',
      'vid_2/out-0',
    ]
    const texts = Object.fromEntries(keys.map(key => [key, key]))

    test('listing blobs names each with its size and the time of its writing', async () => {
      const beforeMs = Date.now()
      const blobs = await opened({ [KEY]: 'twelve bytes' })
      const afterMs = Date.now()

      const [blob] = await blobs.list({ limit: 10, ...LATER })

      expect(blob).toMatchObject({ key: KEY, bytes: 12 })
      // S3 cuts the time to a second, and the file system's clock may be some milliseconds late.
      expect(blob!.writtenAtMs).toBeGreaterThan(beforeMs - 2000)
      expect(blob!.writtenAtMs).toBeLessThan(afterMs + 1000)
    })

    test.each([1, 2, 3, 6, 7, 100])(
      'listing blobs walks over all of them once in pages of %p',
      async limit => {
        const blobs = await opened(texts)

        const found: string[] = []
        for (let after: string | undefined; ;) {
          const page = await blobs.list({ limit, ...LATER, ...(after === undefined ? {} : { after }) })
          expect(page.length).toBeLessThanOrEqual(limit)
          if (page.length === 0) break
          found.push(...page.map(({ key }) => key))
          after = page.at(-1)!.key
        }

        expect([...found].sort()).toEqual([...keys].sort())
      },
    )

    test('listing blobs continues after a key that has been removed since', async () => {
      const blobs = await opened(texts)
      const order = await keysOf(blobs)
      await blobs.remove(order[2]!)

      const page = await blobs.list({ after: order[2]!, limit: 2, ...LATER })

      expect(page.map(({ key }) => key)).toEqual(order.slice(3, 5))
    })

    test('listing blobs leaves out what was written at the given instant or later', async () => {
      const blobs = await opened({ [KEY]: 'x' })
      const [blob] = await blobs.list({ limit: 1, ...LATER })
      const { writtenAtMs } = blob!

      const listedAt = async (olderThanMs: number) => (await blobs.list({ limit: 1, olderThanMs })).length

      expect(await listedAt(writtenAtMs)).toBe(0)
      expect(await listedAt(writtenAtMs + 1)).toBe(1)
    })
  })

  describe('a key that could name another file is refused', () => {
    test.each([
      '',
      '.',
      '..',
      '/',
      '/etc/passwd',
      '../live',
      'img_1/../img_2',
      'img_1/..',
      'img_1/./out-0',
      'img_1//out-0',
      'img_1/',
      '/img_1',
      'img_1.out-0',
      'img_1\\out-0',
      'C:out',
      'IMG_1/out-0',
      'img_1/out 0',
      'img_1/out-0\n',
      'img_1/out-0\0',
      'img_é/out-0',
      '%2e%2e/out',
      '~/out',
      'a/b/c/d/e',
      'a'.repeat(201),
    ])('a key that could name another file is refused: %p', async key => {
      const blobs = await opened({ 'img_1/out-0': 'x' })
      const source = streamOfText('x')

      const errors = await Promise.all([
        rejection(blobs.write(key, source, UNLIMITED)),
        rejection(blobs.read(key)),
        rejection(blobs.remove(key)),
        rejection(blobs.archive(key)),
        rejection(blobs.list({ after: key, limit: 1, ...LATER })),
      ])

      for (const error of errors) expect(error).toBeInstanceOf(RangeError)
      expect(source.isCancelled).toBe(true)
      expect(await keysOf(blobs)).toEqual(['img_1/out-0'])
    })

    test('a key that could name another file is refused and the longest key with every allowed character is not', async () => {
      const key = `${'abcdefghijklmnopqrstuvwxyz0123456789_-'.repeat(5)}/abc/-/_`.padEnd(200, 'z')
      const blobs = await opened({ [key]: 'x' })

      expect(await keysOf(blobs)).toEqual([key])
      expect(await textAt(blobs, key)).toBe('x')
    })
  })
}
