import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { rejection } from '../../../test/support/rejection.ts'
import { startS3Server, type S3Server } from '../../../test/support/s3-server.ts'
import { startVersitygw, versitygwPath } from '../../../test/support/versitygw.ts'
import type { AnchorFile } from '../../gateway/ports/ledger/anchor.ts'
import { AnchorReplacedError, NotAnAnchorError } from '../../gateway/ports/ledger/anchor.ts'
import { BlobsUnavailableError } from '../../gateway/ports/media/blobs.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { Timers } from '../../http1/timers.ts'
import { anchorObject } from './anchor-object.ts'
import { Bucket, type BucketSettings } from './bucket.ts'

const FIRST = [{ node: 'lane-1', number: 1, hash: 'aa' }]
const SECOND = [...FIRST, { node: 'lane-2', number: 1, hash: 'bb' }]
const THIRD = [{ node: 'lane-1', number: 2, hash: 'cc' }, SECOND[1]!]
const http = httpClient(new Timers(systemClock))

function bucketOf(settings: BucketSettings): Bucket {
  return new Bucket(settings, { http, clock: systemClock })
}

/** What the object must do on any storage. `open` is another process with the same new bucket. */
function anchorObjectConforms(setUp: () => () => AnchorFile): void {
  test('an anchor in a bucket is undefined before it is written, and then what was written last', async () => {
    const open = setUp()
    const file = open()

    const before = await file.read()
    await file.write(FIRST)
    await file.write(SECOND)

    expect([before, await file.read(), await open().read()]).toEqual([undefined, SECOND, SECOND])
  })

  test('of two nodes that write the first anchor of a bucket, one wins, and the other can go on', async () => {
    const open = setUp()
    const [one, other] = [open(), open()]
    await Promise.all([one.read(), other.read()])

    await one.write(SECOND)
    const refused = await rejection(other.write(FIRST))
    const seen = await other.read()
    await other.write(THIRD)

    expect(refused).toBeInstanceOf(AnchorReplacedError)
    expect(seen).toEqual(SECOND)
    expect(await one.read()).toEqual(THIRD)
  })

  test('a slow write never replaces a later anchor in a bucket', async () => {
    const open = setUp()
    const [slow, fast] = [open(), open()]
    await slow.write(FIRST)
    await fast.read()
    await fast.write(SECOND)
    await fast.write(THIRD)

    expect(await rejection(slow.write(SECOND))).toBeInstanceOf(AnchorReplacedError)
    expect(await fast.read()).toEqual(THIRD)
  })
}

describe('an anchor in a bucket', () => {
  let storage: S3Server
  beforeEach(async () => {
    storage = await startS3Server({ prefix: 'team' })
  })
  afterEach(() => storage.stop())
  const open = () => anchorObject(bucketOf(storage.settings))

  anchorObjectConforms(() => open)

  test('an anchor in a bucket whose write was not answered counts as replaced by another node', async () => {
    const file = open()
    await file.read()
    let isLost = false
    storage.fault = ({ method }) => {
      if (method !== 'PUT' || isLost) return undefined
      isLost = true
      return 'lost answer'
    }

    const refused = await rejection(file.write(FIRST))

    expect(refused).toBeInstanceOf(AnchorReplacedError)
    expect(await file.read()).toEqual(FIRST)
    await file.write(SECOND)
    expect(await file.read()).toEqual(SECOND)
  })

  test('an anchor in a bucket that was removed is not written again unseen', async () => {
    const file = open()
    await file.write(FIRST)
    storage.objects.clear()

    expect(await rejection(file.write(SECOND))).toBeInstanceOf(AnchorReplacedError)
    expect(storage.objects.size).toBe(0)
  })

  test('an object in a bucket with other content is not an anchor', async () => {
    const file = open()
    await file.write(FIRST)
    storage.objects.get('team/anchor.json')!.bytes = Buffer.from('{}')

    expect(await rejection(file.read())).toBeInstanceOf(NotAnAnchorError)
  })

  test('an anchor in a bucket that refuses the keys is not a missing one', async () => {
    storage.fault = () => ({ status: 403, code: 'AccessDenied' })

    expect(await rejection(open().read())).toBeInstanceOf(BlobsUnavailableError)
  })
})

describe.skipIf(versitygwPath === undefined)('an anchor on a real S3 server', () => {
  let server: Awaited<ReturnType<typeof startVersitygw>>
  let made = 0
  beforeAll(async () => {
    server = await startVersitygw(versitygwPath!)
  })
  afterAll(() => server.stop())

  anchorObjectConforms(() => {
    made += 1
    const settings = { ...server.settings, prefix: `test/${made}` }
    return () => anchorObject(bucketOf(settings))
  })
})
