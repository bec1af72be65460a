import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { blobsConform } from '../../../test/conformance/blobs.ts'
import { streamOf, streamOfText, textOf } from '../../../test/support/byte-streams.ts'
import { s3rverPath, startS3rver } from '../../../test/support/s3rver.ts'
import { startVersitygw, versitygwPath } from '../../../test/support/versitygw.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { Timers } from '../../http1/timers.ts'
import { S3Blobs } from './blobs.ts'
import { Bucket } from './bucket.ts'
import { checkBucket } from './check-bucket.ts'

const MB = 1024 * 1024

const fallbackPath = versitygwPath === undefined ? await s3rverPath() : undefined

describe.skipIf(versitygwPath === undefined && fallbackPath === undefined)('a real S3 server', () => {
  const http = httpClient(new Timers(systemClock))
  let server: Awaited<ReturnType<typeof startVersitygw>>
  let opened = 0

  beforeAll(async () => {
    server = await (versitygwPath === undefined ? startS3rver(fallbackPath!) : startVersitygw(versitygwPath))
  })
  afterAll(() => server.stop())

  function anEmptyBucket(): Bucket {
    opened += 1
    return new Bucket({ ...server.settings, prefix: `test/${opened}` }, { http, clock: systemClock })
  }

  test('a real S3 server stores, hashes and archives a blob of several parts', async () => {
    const blobs = new S3Blobs(anEmptyBucket())
    const pieces = Array.from({ length: 12 }, (_, index) => new Uint8Array(MB).fill(index))
    const key = 'vid_1/out-0'

    const stored = await blobs.write(key, streamOf(pieces), { bytesMax: 12 * MB })
    const damage = await blobs.damageOf({ key, ...stored })
    await blobs.archive(key)
    await blobs.removeUnfinished(Date.now())

    expect([stored.bytes, damage]).toEqual([12 * MB, undefined])
    expect(await blobs.read(key)).toBeUndefined()
  })

  test('a real S3 server lists blobs, gives a part of one, and removes it', async () => {
    const blobs = new S3Blobs(anEmptyBucket())
    const keys = ['vid_1/out-0', 'vid_2/out-0', 'vid_2/out-1']
    const listed = async () => (await blobs.list({ limit: 10, olderThanMs: Infinity })).map(({ key }) => key)
    for (const key of keys) await blobs.write(key, streamOfText('0123456789'), { bytesMax: 10 })

    const before = await listed()
    const part = await blobs.read(keys[0]!, { start: 3, end: 7 })
    await blobs.remove(keys[1]!)

    expect(before).toEqual(keys)
    expect(await textOf(part!.stream)).toBe('3456')
    expect(await listed()).toEqual([keys[0]!, keys[2]!])
  })

  describe.skipIf(versitygwPath === undefined)('that keeps to the protocol', () => {
    blobsConform(async () => new S3Blobs(anEmptyBucket()))

    test('a real S3 server with a bucket for one key is sound', async () => {
      expect((await checkBucket(anEmptyBucket())).outcome).toBe('sound')
    })
  })
})
