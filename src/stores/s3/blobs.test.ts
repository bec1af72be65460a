import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { blobsConform } from '../../../test/conformance/blobs.ts'
import { bytesOf, streamOf, streamOfText } from '../../../test/support/byte-streams.ts'
import { rejection } from '../../../test/support/rejection.ts'
import {
  startS3Server,
  type S3Fault,
  type S3Request,
  type S3Server,
} from '../../../test/support/s3-server.ts'
import { turn } from '../../../test/support/turn.ts'
import { BlobsUnavailableError, type Blobs, type OpenBlob } from '../../gateway/ports/media/blobs.ts'
import { ClientError } from '../../http1/client/client-error.ts'
import { httpClient, type HttpClient } from '../../http1/client/http-client.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { Timers } from '../../http1/timers.ts'
import { S3Blobs } from './blobs.ts'
import { Bucket } from './bucket.ts'

const http = httpClient(new Timers(systemClock))
let server: S3Server

beforeEach(async () => {
  server = await startS3Server({ keysAPage: 3, prefix: 'team/gate' })
})
afterEach(() => server.stop())

/** A process with the bucket. The clock of its time limits can be another one. */
function open(clock: typeof systemClock = systemClock): Blobs {
  const client = clock === fast ? httpClient(new Timers(fast)) : http
  return new S3Blobs(new Bucket(server.settings, { http: client, clock }))
}

blobsConform(async () => open())

const KEY = 'vid_01jd0000000000000000000000/out-0'
const OBJECT = 'team/gate/live/vid_01jd0000000000000000000000.out-0'
const UNLIMITED = { bytesMax: Number.MAX_SAFE_INTEGER }
const MB = 1024 * 1024
/** The longest pause between two tries. Every time limit is longer. */
const PAUSE_MS_MAX = 1000

/** Twelve megabytes, which are three parts. */
const large = () => streamOf(Array.from({ length: 12 }, (_, index) => new Uint8Array(MB).fill(index)))

/** A clock on which a pause between two tries takes no time. The time limits are real, so a busy machine keeps them. */
const unpaused = {
  ...systemClock,
  after: (delayMs: number, then: () => void) => systemClock.after(delayMs > PAUSE_MS_MAX ? delayMs : 0, then),
}

/** A clock that runs a hundred times faster, for storages that do not answer. */
const fast = {
  now: systemClock.now,
  monotonicMs: () => systemClock.monotonicMs() * 100,
  after: (delayMs: number, then: () => void) => systemClock.after(delayMs / 100, then),
}

/** Lets the requests that match fail, at most this many times. */
function failing(
  fault: S3Fault,
  { times = Infinity, when = () => true }: { times?: number; when?: (request: S3Request) => boolean } = {},
): void {
  let failed = 0
  server.fault = request => {
    if (failed >= times || !when(request)) return undefined
    failed += 1
    return fault
  }
}

async function written(blobs: Blobs, source = streamOfText('0123456789')) {
  return { key: KEY, ...(await blobs.write(KEY, source, UNLIMITED)) }
}

describe('writing to S3', () => {
  test('writing to S3 sends a large blob in parts, and shows it when the last one is there', async () => {
    const blobs = open()
    const seen: number[] = []
    server.fault = () => void seen.push(server.objects.size)

    const stored = await written(blobs, large())

    expect(server.requests.filter(({ method }) => method === 'PUT').map(({ body }) => body.length)).toEqual([
      5 * MB,
      5 * MB,
      2 * MB,
    ])
    expect(seen).toEqual([0, 0, 0, 0, 0])
    expect(server.uploads.size).toBe(0)
    expect(stored.bytes).toBe(12 * MB)
    expect(await open().damageOf(stored)).toBeUndefined()
  })

  test.each<[string, S3Fault]>([
    ['the storage is busy', { status: 503, code: 'SlowDown' }],
    ['the storage fails', { status: 500, code: 'InternalError' }],
    ['the answer is lost', 'lost answer'],
  ])('writing to S3 sends a part again if %s', async (_, fault) => {
    const blobs = open(unpaused)
    failing(fault, { times: 2, when: ({ query }) => query.get('partNumber') === '2' })

    const stored = await written(blobs, large())

    server.fault = () => undefined
    expect(await open().damageOf(stored)).toBeUndefined()
  })

  test.each<[string, S3Fault, (request: S3Request) => boolean]>([
    ['a part', { status: 503, code: 'SlowDown' }, ({ query }) => query.get('partNumber') === '2'],
    [
      'the completion, after its status',
      'late error',
      ({ method, query }) => method === 'POST' && query.has('uploadId'),
    ],
  ])('writing to S3 that fails at %s leaves neither an object nor parts', async (_, fault, when) => {
    const blobs = open(unpaused)
    const source = large()
    failing(fault, { when })

    const error = await rejection(blobs.write(KEY, source, UNLIMITED))

    expect(error).toBeInstanceOf(BlobsUnavailableError)
    expect(source.isCancelled).toBe(true)
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
  })

  test('writing to S3 fails if the bytes were changed on the way', async () => {
    const changing: Pick<HttpClient, 'send'> = {
      send: (request, options = {}) =>
        http.send(request, options.body === undefined ? options : { ...options, body: 'x123456789' }),
    }
    const blobs = new S3Blobs(new Bucket(server.settings, { http: changing, clock: unpaused }))

    const error = await rejection(written(blobs))

    expect((error as Error).message).toContain('400 (XAmzContentSHA256Mismatch)')
    expect(server.objects.size).toBe(0)
  })

  test('writing to S3 ends when the storage does not answer', async () => {
    failing('hang')

    const error = await rejection(written(open(fast)))

    expect((error as Error).message).toBe(
      'PUT of an object in s3://results/team/gate failed: no answer in time.',
    )
  })

  test('the parts of an upload that was cut off are removed when it is old, and others are not', async () => {
    failing('hang', { when: ({ query }) => query.has('partNumber') })
    void written(open(), large()).catch(() => undefined)
    while (!server.requests.some(({ query }) => query.has('partNumber'))) await turn()

    await open().removeUnfinished(Date.now() - 60_000)
    const before = server.uploads.size
    await open().removeUnfinished(Date.now() + 60_000)

    expect([before, server.uploads.size]).toEqual([1, 0])
  })

  test('a storage that cannot list uploads is left to its own rules', async () => {
    failing({ status: 501, code: 'NotImplemented' })

    expect(await open().removeUnfinished(Date.now())).toBeUndefined()
  })
})

describe('reading from S3', () => {
  test('reading from S3 goes on with the rest of the same version if the connection breaks', async () => {
    const stored = await written(open(), large())
    failing('cut', { times: 3, when: ({ method }) => method === 'GET' })

    const { stream } = (await open().read(KEY))!
    const hash = createHash('sha256')
    for (let piece = await stream.read(); piece !== undefined; piece = await stream.read()) hash.update(piece)

    expect(hash.digest('hex')).toBe(stored.sha256)
    expect(server.requests.filter(({ headers }) => headers['if-match'] !== undefined)).toHaveLength(3)
  })

  test('reading from S3 is cut if the object was replaced meanwhile', async () => {
    const blobs = open()
    await written(blobs, large())
    const { stream } = (await blobs.read(KEY))!
    await stream.read()
    failing('cut', { times: 1 })
    await written(open(), streamOfText('another'))
    await server.stop()
    await server.start()

    const error = await rejection(bytesOf(stream))

    expect((error as Error).message).toContain('replaced or removed meanwhile')
  })

  test('reading from S3 hashes an object that another process wrote once, also for two readers at once', async () => {
    const stored = await written(open(), large())
    const blobs = open()

    const readers = await Promise.all([blobs.readIntact(stored), blobs.readIntact(stored)])
    for (const reader of readers) (reader as OpenBlob).stream.cancel()
    const whole = server.requests.filter(({ headers }) => headers['if-match'] !== undefined)
    const requests = server.requests.length
    const again = await blobs.readIntact(stored, { start: 0, end: 3 })

    expect(whole).toHaveLength(1)
    expect(server.requests.length - requests).toBe(1)
    expect(await bytesOf((again as OpenBlob).stream)).toEqual(Buffer.from([0, 0, 0]))
  })

  test('an object whose bytes are others is changed, and one whose answer was changed on the way too', async () => {
    const stored = await written(open())
    failing('corrupt')
    const onTheWay = await open().damageOf(stored)
    server.fault = () => undefined
    const sound = await open().damageOf(stored)
    server.objects.get(OBJECT)!.bytes = Buffer.from('9876543210')

    const damages = [await open().readIntact(stored), await open().damageOf(stored)]

    expect([onTheWay, sound, ...damages]).toEqual(['changed', undefined, 'changed', 'changed'])
  })

  test.each<[string, S3Fault]>([
    ['does not exist', { status: 404, code: 'NoSuchBucket' }],
    ['refuses the keys', { status: 403, code: 'AccessDenied' }],
    ['is busy', { status: 503, code: 'SlowDown' }],
    ['does not answer', 'hang'],
  ])('a bucket that %s is unavailable: none of its blobs counts as missing', async (_, fault) => {
    const stored = await written(open())
    const blobs = open(fault === 'hang' ? fast : unpaused)
    failing(fault)

    const errors = await Promise.all([
      rejection(blobs.read(KEY)),
      rejection(blobs.readIntact(stored)),
      rejection(blobs.damageOf(stored)),
      rejection(blobs.list({ limit: 1, olderThanMs: Infinity })),
      rejection(blobs.remove(KEY)),
      rejection(blobs.archive(KEY)),
    ])

    for (const error of errors) expect(error).toBeInstanceOf(BlobsUnavailableError)
    expect([...server.objects.keys()]).toEqual([OBJECT])
  })

  test('errors of S3 name neither a key nor an object', async () => {
    const { settings } = server
    const wrong = { ...settings, secretAccessKey: 'another/secret' }
    const blobs = new S3Blobs(new Bucket(wrong, { http, clock: systemClock }))

    const { message } = (await rejection(blobs.read(KEY))) as Error

    expect(message).toBe(
      'GET of an object in s3://results/team/gate failed: status 403 (SignatureDoesNotMatch).',
    )
  })
})

describe('archiving in S3', () => {
  test('archiving in S3 moves the object within the bucket', async () => {
    await written(open())

    await open().archive(KEY)

    expect([...server.objects.keys()]).toEqual([OBJECT.replace('live', 'archive')])
  })

  test('archiving in S3 keeps the live object if the copy fails after its status', async () => {
    await written(open())
    failing('late error', { when: ({ headers }) => headers['x-amz-copy-source'] !== undefined })

    await rejection(open(unpaused).archive(KEY))

    expect([...server.objects.keys()]).toEqual([OBJECT])
  })
})

test('a bucket can be in the host of its URLs, with objects of others beside the blobs', async () => {
  const hosts: string[] = []
  const resolving: Pick<HttpClient, 'send'> = {
    send: ({ method, url }, options) => {
      hosts.push(`${method} ${url}`)
      return Promise.reject(new ClientError(options === undefined ? '' : 'ECONNREFUSED'))
    },
  }
  const settings = { ...server.settings, isPathStyle: false, endpoint: undefined }
  const blobs = new S3Blobs(new Bucket(settings, { http: resolving, clock: unpaused }))
  server.objects.set('team/gate/live/Other File.txt', {
    bytes: Buffer.from('x'),
    etag: 'e',
    modifiedMs: Date.now(),
  })
  await written(open())

  await rejection(blobs.remove(KEY))
  const listed = await open().list({ limit: 10, olderThanMs: Infinity })

  expect(hosts[0]).toBe(`DELETE https://results.s3.eu-test-1.amazonaws.com/${OBJECT}`)
  expect(listed.map(({ key }) => key)).toEqual([KEY])
})
