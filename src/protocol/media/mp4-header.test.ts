import { Buffer } from 'node:buffer'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mediaTypeOf } from './media-signature.ts'
import { readMp4Header } from './mp4-header.ts'

const fixtures = join(import.meta.dirname, '../../../test/fixtures/media')
const fixture = (name: string) => readFileSync(join(fixtures, name))

/** The duration of a file, and how many of its bytes were read in how many reads. */
async function measure(file: Uint8Array, fileBytes = file.length) {
  let bytes = 0
  let reads = 0
  const read = async (offset: number, length: number) => {
    const part = file.subarray(offset, offset + length)
    bytes += part.length
    reads += 1
    return part
  }
  const header = await readMp4Header(read, fileBytes)
  return { isReadable: header !== undefined, durationMs: header?.durationMs, bytes, reads }
}

const durationOf = async (...boxes: readonly Buffer[]) => (await measure(Buffer.concat(boxes))).durationMs

const uint = (value: number | bigint, length: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes.subarray(8 - length)
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([uint(8 + body.length, 4), Buffer.from(type, 'latin1'), body])
}

/** A box with a size of 64 bits. */
function longBox(type: string, content: Buffer): Buffer {
  return Buffer.concat([uint(1, 4), Buffer.from(type, 'latin1'), uint(16 + content.length, 8), content])
}

/** Version 0 has times of 32 bits, and version 1 of 64. */
function mvhd(duration: number | bigint, { timescale = 1000, version = 0 } = {}): Buffer {
  const time = version === 0 ? 4 : 8
  const times = [uint(3_000_000_000, time), uint(3_000_000_000, time)]
  return box(
    'mvhd',
    uint(version << 24, 4),
    ...times,
    uint(timescale, 4),
    uint(duration, time),
    Buffer.alloc(80),
  )
}

const ftyp = box('ftyp', Buffer.from('isom\0\0\x02\0isom', 'latin1'))
const mdat = box('mdat', Buffer.alloc(5000, 'moov'))

test.each([
  ['clip.mp4', 'with its header at the end'],
  ['clip-faststart.mp4', 'with its header at the front'],
  ['clip.mov', 'of QuickTime'],
])('the real clip %s %s lasts 2.5 s', async name => {
  expect((await measure(fixture(name))).durationMs).toBe(2500)
})

test.each([
  'clip-fragmented.mp4',
  'clip.webm',
  'clip.mkv',
  'image.png',
  'image.jpg',
  'image.gif',
  'image.webp',
])('the real file %s states no duration that is read', async name => {
  expect((await measure(fixture(name))).durationMs).toBeUndefined()
})

test('the real files are known by their signatures', () => {
  const types = Object.fromEntries(
    globSync('*', { cwd: fixtures }).map(name => [name, mediaTypeOf(fixture(name))] as const),
  )

  expect(types).toEqual({
    'clip.mp4': 'video/mp4',
    'clip-faststart.mp4': 'video/mp4',
    'clip-fragmented.mp4': 'video/mp4',
    'clip.mov': 'video/quicktime',
    'clip.webm': 'video/webm',
    'clip.mkv': undefined,
    'image.png': 'image/png',
    'image.jpg': 'image/jpeg',
    'image.gif': 'image/gif',
    'image.webp': 'image/webp',
  })
})

describe('the duration is read', () => {
  test.each<[string, readonly Buffer[], number]>([
    ['of version 0', [ftyp, box('moov', mvhd(8000)), mdat], 8000],
    ['of version 1', [ftyp, box('moov', mvhd(8000, { version: 1 })), mdat], 8000],
    ['behind the pictures', [ftyp, mdat, box('moov', mvhd(5005))], 5005],
    ['without ftyp', [box('moov', mvhd(5000))], 5000],
    [
      'behind a box with a size of 64 bits',
      [ftyp, longBox('mdat', Buffer.alloc(100)), box('moov', mvhd(5000))],
      5000,
    ],
    [
      'in boxes with sizes of 64 bits',
      [ftyp, longBox('moov', Buffer.concat([longBox('iods', Buffer.alloc(4)), mvhd(5000)]))],
      5000,
    ],
    [
      'in a last box without a size',
      [ftyp, mdat, Buffer.concat([uint(0, 4), Buffer.from('moov'), mvhd(5000)])],
      5000,
    ],
    ['behind other boxes of the header', [ftyp, box('moov', box('free', Buffer.alloc(9)), mvhd(5000))], 5000],
    ['in another time scale', [box('moov', mvhd(121_121, { timescale: 24_000 }))], 5047],
    ['of half a millisecond, rounded up', [box('moov', mvhd(25_001, { timescale: 2000 }))], 12_501],
    [
      'of more than 32 bits',
      [box('moov', mvhd(2n ** 40n, { version: 1, timescale: 1_000_000 }))],
      1_099_511_628,
    ],
    [
      'of a file in fragments',
      [ftyp, box('moov', mvhd(0), box('mvex', box('mehd', uint(0, 4), uint(7000, 4)))), mdat],
      7000,
    ],
    [
      'of a file in fragments, of version 1',
      [box('moov', mvhd(0), box('mvex', box('mehd', uint(1 << 24, 4), uint(7000, 8))))],
      7000,
    ],
  ])('the duration is read %s', async (_where, boxes, expected) => {
    expect(await durationOf(...boxes)).toBe(expected)
  })

  test('the duration is read of a file of gigabytes, from a few bytes of it', async () => {
    const bytes = 5 * 1024 ** 3
    const moov = box('moov', mvhd(60_000))
    const head = Buffer.concat([ftyp, uint(1, 4), Buffer.from('mdat'), uint(bytes - ftyp.length, 8)])
    const reads: number[] = []
    const read = async (offset: number, length: number) => {
      reads.push(length)
      return offset < bytes
        ? head.subarray(offset, offset + length)
        : moov.subarray(offset - bytes, offset - bytes + length)
    }

    const header = await readMp4Header(read, bytes + moov.length)

    expect(header).toEqual({ durationMs: 60_000 })
    expect(reads.length).toBeLessThanOrEqual(6)
    expect(Math.max(...reads)).toBeLessThanOrEqual(32)
  })
})

describe('no duration is read', () => {
  const moov = box('moov', mvhd(5000))

  test.each<[string, readonly Buffer[]]>([
    ['of an empty file', []],
    ['of a file without a header', [ftyp, mdat]],
    ['of a header without mvhd', [ftyp, box('moov', box('trak', mvhd(5000)))]],
    ['of an unknown length', [box('moov', mvhd(0xffff_ffff))]],
    ['of an unknown length of 64 bits', [box('moov', mvhd(2n ** 64n - 1n, { version: 1 }))]],
    ['of zero', [box('moov', mvhd(0))]],
    ['in a time scale of zero', [box('moov', mvhd(5000, { timescale: 0 }))]],
    ['of a later version', [box('moov', mvhd(5000, { version: 2 }))]],
    ['that no number holds exactly', [box('moov', mvhd(2n ** 63n, { version: 1, timescale: 1 }))]],
    ['behind a box that is smaller than its header', [ftyp, uint(7, 4), Buffer.from('free'), moov]],
    [
      'behind a box of 64 bits that is smaller than its header',
      [uint(1, 4), Buffer.from('free'), uint(15, 8), moov],
    ],
    ['behind a box that is longer than the file', [ftyp, uint(1_000_000, 4), Buffer.from('free'), moov]],
    ['behind a box of impossible length', [uint(1, 4), Buffer.from('free'), uint(2n ** 64n - 1n, 8), moov]],
    ['inside the pictures', [ftyp, box('mdat', moov)]],
    ['of a header that is cut', [Buffer.concat([ftyp, moov]).subarray(0, ftyp.length + 8 + 8 + 18)]],
  ])('no duration is read %s', async (_what, boxes) => {
    expect(await durationOf(...boxes)).toBeUndefined()
  })

  test('no duration is read behind a chain of boxes that is made to be slow', async () => {
    const { durationMs, reads } = await measure(
      Buffer.concat([...Array.from({ length: 100_000 }, () => box('free')), moov]),
    )

    expect(durationMs).toBeUndefined()
    expect(reads).toBeLessThanOrEqual(1000)
  })

  test('no duration is read of a file that is shorter than it should be', async () => {
    const file = Buffer.concat([ftyp, mdat, moov])

    expect((await measure(file.subarray(0, 300), file.length)).durationMs).toBeUndefined()
  })
})

describe('a clip', () => {
  const isReadable = async (...boxes: readonly Buffer[]) => (await measure(Buffer.concat(boxes))).isReadable
  const moov = box('moov', mvhd(5000))

  test.each(['clip.mp4', 'clip-faststart.mp4', 'clip-fragmented.mp4', 'clip.mov'])(
    'a clip like %s has a readable header, and none when its last byte is missing',
    async name => {
      const whole = fixture(name)

      expect(await isReadable(whole)).toBe(true)
      expect(await isReadable(whole.subarray(0, -1))).toBe(name === 'clip-fragmented.mp4')
    },
  )

  test.each<[string, readonly Buffer[]]>([
    ['of an unknown length', [ftyp, box('moov', mvhd(0)), mdat]],
    ['with bytes behind its last box', [ftyp, moov, mdat, Buffer.from('no box')]],
    ['whose last box has no size', [ftyp, moov, uint(0, 4), Buffer.from('mdat'), Buffer.from('pictures')]],
  ])('%s can be read', async (_what, boxes) => {
    expect(await isReadable(...boxes)).toBe(true)
  })

  test.each<[string, readonly Buffer[]]>([
    ['without a header', [ftyp, mdat]],
    ['whose header is cut', [ftyp, mdat, moov.subarray(0, -1)]],
    ['whose pictures are cut', [ftyp, moov, mdat.subarray(0, -1)]],
    ['in a time scale of zero', [ftyp, box('moov', mvhd(5000, { timescale: 0 })), mdat]],
  ])('%s cannot be read', async (_what, boxes) => {
    expect(await isReadable(...boxes)).toBe(false)
  })
})

test('any bytes give a duration or none, and never an error', async () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
    fc.constantFrom(
      ftyp,
      uint(0, 4),
      uint(1, 4),
      uint(16, 4),
      Buffer.from('moov'),
      Buffer.from('mvhd'),
      mvhd(5000),
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async pieces => {
      const { durationMs, reads } = await measure(Buffer.concat(pieces))

      expect(durationMs === undefined || (Number.isSafeInteger(durationMs) && durationMs >= 0)).toBe(true)
      expect(reads).toBeLessThan(100)
    }),
    { numRuns: 2000 },
  )
})
