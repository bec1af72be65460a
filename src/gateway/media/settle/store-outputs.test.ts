import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { streamOf } from '../../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import type { Bytes } from '../../../domain/bytes.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import type { ExtraOutputType } from '../../../domain/jobs/output-types.ts'
import { base64Output, linkOutput } from '../../../providers/media/result-values.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import type { MediaOutput } from '../../ports/providers/media-provider.ts'
import type { FetchOutcome } from '../../ports/providers/untrusted-fetch.ts'
import { storeOutputs } from './store-outputs.ts'

const media = join(import.meta.dirname, '../../../../test/fixtures/media')
const fixture = (name: string) => Uint8Array.from(readFileSync(join(media, name)))
const aJob = (kind: Job['kind']) => ({ id: { key: 1n, tail: 1n }, kind, request: { count: 1 } }) as Job

test('a result that its provider has removed is lost, and nothing is fetched or stored', async () => {
  const unused = new Proxy({}, { get: () => expect.unreachable() })
  const job = aJob('image')
  const outputs = [{ from: 'lost', problem: 'the provider has removed the result' } as const]

  const stored = await storeOutputs(
    job,
    { outputs },
    { blobs: unused as never, fetchUntrusted: () => expect.unreachable() },
  )

  expect(stored).toEqual({ outcome: 'lost', problem: 'the provider has removed the result' })
})

type Content = readonly [name: string, content: Bytes]

const text = (content: string): Bytes => new TextEncoder().encode(content)
const latin1 = (content: string): Bytes => Uint8Array.from(Buffer.from(content, 'latin1'))
const file = (name: string): Content => [name, fixture(name)]
const box = (brands: string) => latin1(`\0\0\0\x1cftyp${brands}\0\0\0\0meta`)

const images: readonly Content[] = [
  file('image.png'),
  file('image.jpg'),
  file('image.gif'),
  file('image.webp'),
  ['AVIF', box('avif\0\0\0\0avifmif1')],
  ['AVIF with a general brand', box('mif1\0\0\0\0mif1avif')],
  ['a sequence of AVIF images', box('avis\0\0\0\0avismsf1')],
]
const clips: readonly Content[] = [
  file('clip.mp4'),
  file('clip-faststart.mp4'),
  file('clip-fragmented.mp4'),
  file('clip.mov'),
  file('clip.webm'),
]
const others: readonly Content[] = [
  ['nothing', text('')],
  ['one byte', text('x')],
  ['text', text('done')],
  ['HTML', text('<html><body>Not found</body></html>')],
  ['HTML behind white space', text('\n <!DOCTYPE html>\n<title>Error</title>')],
  ['JSON', text('{"error":{"message":"expired"}}')],
  ['XML', text('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>')],
  ['SVG', text('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['PDF', text('%PDF-1.7\n%âãÏÓ')],
  ['ELF', latin1('\x7fELF\x02\x01\x01\0')],
  ['ZIP', latin1('PK\x03\x04\x14\0')],
  ['MP3', latin1('ID3\x04\0\0')],
  ['WAV', latin1('RIFF\x24\0\0\0WAVEfmt ')],
  ['AVI', latin1('RIFF\x24\0\0\0AVI LIST')],
  ['HEIC', box('heic\0\0\0\0mif1heic')],
  ['TIFF', latin1('II*\0\x08\0\0\0')],
  ['base64 of a PNG', text(fixture('image.png').toBase64())],
  file('clip.mkv'),
  ['MP4 without its header', box('isom\0\0\0\0isomavc1')],
  ['MP4 with a header at its end that is cut', fixture('clip.mp4').subarray(0, 1980)],
  ['MP4 whose pictures are cut', fixture('clip-faststart.mp4').subarray(0, 1980)],
  ['MP4 with sound only', box('M4A \0\0\0\0M4A mp42')],
  ['MP4 with sound only and the name of an image brand', box('M4A \0\0\0\0M4A mp42\0\0\0\x10freeavif')],
]

/** How a provider may send a file, and what becomes of a file of another format. */
const ways: readonly (readonly [way: string, outputOf: (bytes: Bytes) => MediaOutput, refusal: string])[] = [
  ['bytes', bytes => ({ from: 'bytes', bytes }), 'lost'],
  ['base64', bytes => base64Output(bytes.toBase64())!, 'lost'],
  ['a data link', bytes => linkOutput(`data:image/png;base64,${bytes.toBase64()}`)!, 'lost'],
  // A later try may find the file.
  ['a link', () => ({ from: 'url', url: 'https://files.test/1' }), 'unavailable'],
]
const contentTypes = ['image/png', 'video/mp4', 'application/octet-stream', 'text/html']

/** Stores the file in a real store, however the provider gives it. */
async function stored(
  job: Job,
  bytes: Bytes,
  { output, contentType }: { readonly output: MediaOutput; readonly contentType: string },
) {
  const blobs = await openDiskBlobs({ folder: join(aDataFolder(), 'blobs') })
  const fetchUntrusted = async (): Promise<FetchOutcome> => ({
    outcome: 'opened',
    contentType,
    body: Object.assign(streamOf([bytes]), { failure: undefined }),
  })
  return storeOutputs(job, { outputs: [output] }, { blobs, fetchUntrusted })
}

describe.each(ways)('a result that comes as %s', (way, outputOf, refusal) => {
  // Only the server of a link names a type.
  const named = way === 'a link' ? contentTypes : ['image/png']

  describe.each(named)('of type %s', contentType => {
    const outcomeOf = async (kind: Job['kind'], bytes: Bytes) =>
      stored(aJob(kind), bytes, { output: outputOf(bytes), contentType })

    test.each(images)('a result is an image and not a clip: %s', async (_, bytes) => {
      expect((await outcomeOf('image', bytes)).outcome).toBe('stored')
      expect((await outcomeOf('video', bytes)).outcome).toBe(refusal as never)
    })

    test.each(clips)('a result is a clip and not an image: %s', async (_, bytes) => {
      expect((await outcomeOf('video', bytes)).outcome).toBe('stored')
      expect((await outcomeOf('image', bytes)).outcome).toBe(refusal as never)
    })

    // No provider's answer has an empty file: such an output is left out.
    test.each(others.filter(([, bytes]) => bytes.length > 0 || way === 'a link' || way === 'bytes'))(
      'a file of another type is not a result: %s',
      async (_, bytes) => {
        expect((await outcomeOf('image', bytes)).outcome).toBe(refusal as never)
        expect((await outcomeOf('video', bytes)).outcome).toBe(refusal as never)
      },
    )
  })
})

test.each<[Job['kind'], ExtraOutputType, Content]>([
  [
    'image',
    'image/svg+xml',
    ['SVG', text('\ufeff<?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE svg>\n<svg/>')],
  ],
  ['image', 'image/heic', ['HEIC', box('heic\0\0\0\0mif1heic')]],
  ['image', 'image/tiff', ['TIFF', latin1('MM\0*\0\0\0\x08')]],
  ['video', 'video/x-matroska', file('clip.mkv')],
])('a row can accept for an %s job the format %s', async (kind, type, [, bytes]) => {
  const output: MediaOutput = { from: 'bytes', bytes }
  const accepting = { ...aJob(kind), request: { ...aJob(kind).request, outputTypes: [type] } }

  const result = await stored(accepting, bytes, { output, contentType: type })

  expect(result).toMatchObject({ outcome: 'stored', files: [{ mediaType: type }] })
})

test('a refused result names the formats that it could have', async () => {
  const bytes = text('no image')

  const result = await stored(aJob('image'), bytes, { output: { from: 'bytes', bytes }, contentType: '' })

  expect(result).toEqual({
    outcome: 'lost',
    problem: 'the result in the answer is none of image/png, image/jpeg, image/gif, image/webp, image/avif',
  })
})
