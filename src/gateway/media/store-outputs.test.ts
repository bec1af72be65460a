import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { streamOf } from '../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { openDiskBlobs } from '../../stores/disk/blobs.ts'
import type { MediaOutput } from '../ports/media-provider.ts'
import type { FetchOutcome } from '../ports/untrusted-fetch.ts'
import { storeOutputs } from './store-outputs.ts'

const media = join(import.meta.dirname, '../../../test/fixtures/media')
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

test.each(['<html><body>Not found</body></html>', '\n <!DOCTYPE html>\n<title>Error</title>'])(
  'a result in the answer that is a web page is lost, and is not stored: %j',
  async page => {
    const unused = new Proxy({}, { get: () => expect.unreachable() })
    const job = aJob('image')
    const outputs = [{ from: 'bytes', bytes: new TextEncoder().encode(page) } as const]

    const stored = await storeOutputs(
      job,
      { outputs },
      { blobs: unused as never, fetchUntrusted: () => expect.unreachable() },
    )

    expect(stored).toEqual({ outcome: 'lost', problem: 'the result in the answer is a web page' })
  },
)

describe.each<[string, (bytes: Uint8Array<ArrayBuffer>) => MediaOutput, string]>([
  ['in the answer', bytes => ({ from: 'bytes', bytes }), 'lost'],
  // A later try may find the clip.
  ['behind a link', () => ({ from: 'url', url: 'https://files.test/1' }), 'unavailable'],
])('the result of a video job %s', (_, outputOf, refusal) => {
  /** Stores the file in a real store, however the provider gives it. */
  async function stored(bytes: Uint8Array<ArrayBuffer>, kind: Job['kind'] = 'video') {
    const blobs = await openDiskBlobs({ folder: join(aDataFolder(), 'blobs') })
    const fetchUntrusted = async (): Promise<FetchOutcome> => ({
      outcome: 'opened',
      // The server may be wrong about the type.
      contentType: 'image/png',
      body: Object.assign(streamOf([bytes]), { failure: undefined }),
    })
    const result = await storeOutputs(aJob(kind), { outputs: [outputOf(bytes)] }, { blobs, fetchUntrusted })
    return { result, files: await blobs.list({ limit: 1, olderThanMs: Infinity }) }
  }

  test.each(['image.png', 'image.jpg'])('is not stored if it is a still image: %s', async name => {
    const { result, files } = await stored(fixture(name))

    expect(result.outcome).toBe(refusal as never)
    expect(result).toMatchObject({ problem: expect.stringContaining('a still image instead of a clip') })
    expect(files).toEqual([])
  })

  test.each([
    ['clip.mp4', 'video/mp4'],
    ['clip.mov', 'video/quicktime'],
    ['clip.webm', 'video/webm'],
    // It may be an animation.
    ['image.gif', 'image/gif'],
    ['image.webp', 'image/webp'],
    // A format that the gateway does not know. The provider has been paid for it.
    ['clip.mkv', undefined],
  ])('is stored if it is or may be a clip: %s', async (name, mediaType) => {
    const { result } = await stored(fixture(name))

    const expected = mediaType === undefined ? {} : { mediaType }
    expect(result).toMatchObject({ outcome: 'stored', files: [expected] })
  })

  test('may be a still image in an image job', async () => {
    const { result } = await stored(fixture('image.png'), 'image')

    expect(result).toMatchObject({ outcome: 'stored', files: [{ mediaType: 'image/png' }] })
  })
})
