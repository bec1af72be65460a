import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { blobsConform } from '../../../test/conformance/blobs.ts'
import { streamOf } from '../../../test/support/byte-streams.ts'
import { startVersitygw, versitygwPath } from '../../../test/support/versitygw.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { Timers } from '../../http1/timers.ts'
import { S3Blobs } from './blobs.ts'
import { Bucket } from './bucket.ts'
import { checkBucket } from './check-bucket.ts'

const MB = 1024 * 1024

describe.skipIf(versitygwPath === undefined)('a real S3 server', () => {
  const http = httpClient(new Timers(systemClock))
  let server: Awaited<ReturnType<typeof startVersitygw>>
  let opened = 0

  beforeAll(async () => {
    server = await startVersitygw(versitygwPath!)
  })
  afterAll(() => server.stop())

  function anEmptyBucket(): Bucket {
    opened += 1
    return new Bucket({ ...server.settings, prefix: `test/${opened}` }, { http, clock: systemClock })
  }

  blobsConform(async () => new S3Blobs(anEmptyBucket()))

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

  test('a real S3 server with a bucket for one key is sound', async () => {
    expect((await checkBucket(anEmptyBucket())).outcome).toBe('sound')
  })
})
