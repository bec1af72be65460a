import { afterEach, beforeEach, expect, test } from 'bun:test'
import { startS3Server, type S3Fault, type S3Server } from '../../../test/support/s3-server.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { Timers } from '../../http1/timers.ts'
import { Bucket } from './bucket.ts'
import { checkBucket } from './check-bucket.ts'

/** Waits for nothing between tries. */
const eager = { ...systemClock, after: (_: number, then: () => void) => systemClock.after(1, then) }
const http = httpClient(new Timers(systemClock))
let server: S3Server

beforeEach(async () => {
  server = await startS3Server({ prefix: 'gate' })
})
afterEach(() => server.stop())

const check = (changes: Partial<S3Server['settings']> = {}, clock = eager) =>
  checkBucket(new Bucket({ ...server.settings, ...changes }, { http, clock }))

test('a bucket that can be used with its keys only is sound, and nothing is left in it', async () => {
  const { outcome, detail } = await check()

  expect([outcome, detail]).toEqual([
    'sound',
    's3://results/gate can be written, read, listed and cleared, with the keys only.',
  ])
  expect(server.objects.size).toBe(0)
})

test('a bucket whose objects strangers can read is public, and so is one that they can only list', async () => {
  server.isPublic = true
  const readable = await check()
  server.fault = ({ isAnonymous, key }) =>
    isAnonymous && key !== '' ? { status: 403, code: 'AccessDenied' } : undefined
  const listable = await check()

  expect(readable).toEqual({
    outcome: 'public',
    detail: 's3://results/gate is public: everybody can read its objects. Block public access to the bucket.',
  })
  expect(listable).toMatchObject({ outcome: 'public', detail: expect.stringContaining('list its objects') })
  expect(server.objects.size).toBe(0)
})

test.each<[string, Partial<S3Server['settings']>, string]>([
  ['another secret', { secretAccessKey: 'x' }, '403 (SignatureDoesNotMatch)'],
  ['another id', { accessKeyId: 'x' }, '403 (InvalidAccessKeyId)'],
  ['another region', { region: 'us-east-1' }, '400 (AuthorizationHeaderMalformed)'],
])('with %s, the bucket refuses the gateway', async (_, changes, reason) => {
  const { outcome, detail } = await check(changes)

  expect(outcome).toBe('refused')
  expect(detail).toBe(`PUT of an object in s3://results/gate failed: status ${reason}.`)
})

test.each(['GET', 'DELETE'])('a key without the right to %s is refused', async method => {
  server.fault = request => (request.method === method ? { status: 403, code: 'AccessDenied' } : undefined)

  expect((await check()).outcome).toBe('refused')
})

test.each<[string, S3Fault]>([
  ['is busy', { status: 503, code: 'SlowDown' }],
  ['loses answers', 'lost answer'],
])('a storage that %s is unavailable, which is no refusal', async (_, fault) => {
  server.fault = () => fault

  expect((await check()).outcome).toBe('unavailable')
})

test('a storage that is down is unavailable', async () => {
  await server.stop()

  expect((await check()).outcome).toBe('unavailable')
  await server.start()
})
