import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Bytes } from '../../../src/domain/bytes.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip, RUNNING } from '../../support/scripted-media.ts'
import { turn } from '../../support/turn.ts'
import { rawConnection, type RawConnection } from '../../../src/http1/testing/raw-http.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { ADMIN_KEY } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'
import { startScriptedVideos, videoModel } from '../gateways/video-gateway.ts'

const MEGABYTE = 1 << 20
const png = readFileSync(join(import.meta.dirname, '../../fixtures/media/image.png'))

/** Files of all requests get 8 MB, and those of one account 2 MB. */
const environment = {
  TOLLGATE_MAX_MEDIA_BODY_MB: '2',
  TOLLGATE_MAX_SPOOL_MB: '8',
  TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on',
}

const image = { id: 'draw', kind: 'image', pricing: { per_image: '0.1' } }
const models = [{ ...image, upstreams: [{ provider: 'box', model: 'image' }] }, videoModel('film')]

let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
let site: ReturnType<typeof Bun.serve>
let ada: TestAccount
let ben: TestAccount
const connections: RawConnection[] = []

beforeAll(async () => {
  gateway = await startScriptedVideos({
    environment,
    models,
  })
  site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(imageOf(MEGABYTE)) })
  ada = await gateway.account({ grant: '1000' })
  ben = await gateway.account({ grant: '1000' })
})
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.leave()
  await until('all space is given back', async () => (await spooled()) === 0 && (await reserved()) === 0)
  await until('all files are removed', () => inputFiles().length === 0)
})
afterAll(async () => {
  await gateway.stop()
  await site.stop(true)
})

async function metric(name: string): Promise<number> {
  const response = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  })
  const line = (await response.text()).split('\n').find(text => text.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}
const spooled = () => metric('tollgate_input_spool_bytes')
const spoolWaiters = () => metric('tollgate_input_spool_waiters')
const reserved = () => metric('tollgate_body_memory_bytes')

/** The files of inputs in the blob store, whole ones and those that are being written. */
const inputFiles = () => inputFilesIn(gateway.dataDir)
const inputFilesIn = (folder: string) => globSync(['blobs/live/*/*.in-*', 'blobs/partial/*'], { cwd: folder })

function imageOf(bytes: number): Bytes {
  const content = new Uint8Array(bytes)
  content.set(png)
  return content
}

const base64 = (bytes: number) => Buffer.from(imageOf(bytes)).toString('base64')

/** Sends the beginning of a request with a file of at least this size, which does not end. */
async function sendHalf(
  fileBytes: number,
  { key = ada.key, path = '/v1/videos' } = {},
): Promise<RawConnection> {
  const connection = rawConnection(gateway.url)
  connections.push(connection)
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: ${2 * MEGABYTE}\r\n\r\n`
  await connection.write(`${head}{"model":"film","prompt":"A","image":"${base64(fileBytes)}`)
  return connection
}

async function send(path: string, body: object | string, { key } = ada): Promise<Response> {
  return gateway.create(key, body, { path })
}

/** Resolves when these files have arrived, except for the last bytes, which are not decoded before the end. */
const arrived = (files: number, bytes: number) =>
  until('the files arrive', async () => (await spooled()) >= files * (Math.floor(bytes) - 3))

const accountOf = () => gateway.account({ grant: '1' })

describe('the space for input files', () => {
  test('the space for input files is taken as a file arrives', async () => {
    await sendHalf(MEGABYTE)

    await arrived(1, MEGABYTE)
    expect(inputFiles()).toHaveLength(1)
  })

  test('the space for input files is not taken by a request without files', async () => {
    const long = 'x'.repeat(500_000)

    const response = await send('/v1/videos', { model: 'film', prompt: long, wait: false })

    expect(response.status).toBe(202)
    expect(await spooled()).toBe(0)
  })

  test('the space is kept until the request has ended, and the memory for the body only until it has arrived', async () => {
    const submitted = Promise.withResolvers<{ outcome: 'accepted'; upstreamId: string }>()
    gateway.media.submitted = submitted.promise
    const submits = gateway.media.submits.length
    const asked = send('/v1/videos', { model: 'film', prompt: 'A', image: base64(MEGABYTE) })
    await until('the job is submitted', () => gateway.media.submits.length > submits)
    const during = [await spooled(), await reserved()]
    submitted.resolve({ outcome: 'accepted', upstreamId: 'kept-until-the-end' })
    gateway.media.submitted = undefined

    const { id } = (await (await asked).json()) as { id: string }
    expect(during[0]).toBe(MEGABYTE)
    expect(during[1]).toBeLessThan(64 * 1024)
    expect(await spooled()).toBe(0)
    // Its input is removed.
    gateway.media.polled = aClip({ durationMs: 5000 })
    await gateway.poll(ada.key, id)
    gateway.media.polled = RUNNING
  })

  test('the space of one account is a quarter: more waits 10 seconds, and is then refused', async () => {
    const first = await sendHalf(1.4 * MEGABYTE)
    await arrived(1, 1.4 * MEGABYTE)
    const second = await sendHalf(MEGABYTE)
    await until('the second file waits', async () => (await spoolWaiters()) === 1)
    const jobs = gateway.media.submits.length
    const money = await gateway.money(ada)

    gateway.clock.advance(9999)
    const before = await Promise.race([second.closed, turn()])
    gateway.clock.advance(1)
    const response = await second.closed

    expect(before).toBeUndefined()
    expect(response).toStartWith('HTTP/1.1 503 ')
    expect(response).toContain('\r\nretry-after: 5\r\n')
    expect(response).toContain('\r\nconnection: close\r\n')
    expect(response).toContain('"code":"overloaded"')
    // Only the file of the first request is left.
    expect(inputFiles()).toHaveLength(1)
    expect(gateway.media.submits).toHaveLength(jobs)
    expect(await gateway.money(ada)).toEqual(money)
    expect(first.received).toBe('')
  })

  test('the space is full for all when every account has its quarter, and then serves the waiting requests', async () => {
    const accounts = await Promise.all([1, 2, 3, 4, 5].map(accountOf))
    const senders = []
    for (const { key } of accounts) senders.push(await sendHalf(1.4 * MEGABYTE, { key }))
    await arrived(5, 1.4 * MEGABYTE)
    await sendHalf(1.4 * MEGABYTE, ben)
    await until('the sixth waits', async () => (await spoolWaiters()) === 1)

    senders[0]!.leave()

    await until('it waits no more', async () => (await spoolWaiters()) === 0)
  })

  test('the space for input files does not stop requests without files', async () => {
    await sendHalf(1.4 * MEGABYTE)
    await arrived(1, 1.4 * MEGABYTE)
    await sendHalf(MEGABYTE)
    await until('a file waits', async () => (await spoolWaiters()) === 1)

    const response = await send('/v1/videos', { model: 'film', prompt: 'A' })

    expect(response.status).toBe(202)
  })

  test('the space for input files is given back when the client leaves, with its file', async () => {
    const connection = await sendHalf(MEGABYTE)
    await until('the file arrives', async () => (await spooled()) > 0 && inputFiles().length === 1)

    connection.leave()

    await until('it is given back', async () => (await spooled()) === 0)
    await until('the file is removed', () => inputFiles().length === 0)
  })

  test('the space of a link that is fetched counts too: without space, the link goes to the provider', async () => {
    const half = await sendHalf(1.4 * MEGABYTE)
    await arrived(1, 1.4 * MEGABYTE)
    const url = `${site.url.href}image.png`
    const asked = send('/v1/videos', { model: 'film', prompt: 'fetched', image_url: url })
    await until('the fetched file waits', async () => (await spoolWaiters()) === 1)

    gateway.clock.advance(10_000)
    await asked
    half.leave()

    expect(gateway.media.submits.at(-1)).toMatchObject({
      prompt: 'fetched',
      images: [{ from: 'url', url }],
    })
  })
})

describe.each([
  ['images', '/v1/images/generations', 'draw'],
  ['videos', '/v1/videos', 'film'],
])('the body of a request for %s', (_, path, model) => {
  test('a body is refused if a field that the gateway reads is repeated, before a job is made', async () => {
    const submits = gateway.media.submits.length

    for (const stray of [
      '"model":"other"',
      '"Model":"other"',
      '"mod\\u0065l":"other"',
      '"image":"x"',
      '"IMAGE":"x"',
    ]) {
      const response = await send(
        path,
        `{"model":"${model}","prompt":"A","image":"${base64(1000)}",${stray}}`,
      )

      expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'ambiguous_field' })
    }
    expect(gateway.media.submits).toHaveLength(submits)
    expect(inputFiles()).toEqual([])
  })

  test('a body with a long prompt takes more memory while it arrives', async () => {
    const connection = rawConnection(gateway.url)
    connections.push(connection)
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${ada.key}\r\ncontent-length: ${2 * MEGABYTE}\r\n\r\n`
    await connection.write(`${head}{"model":"${model}","prompt":"${'x'.repeat(1.5 * MEGABYTE)}`)

    await until('its memory is reserved', async () => (await reserved()) >= 3 * MEGABYTE)
  })

  test('the body of an account without money leaves no file behind', async () => {
    const poor = await gateway.account({ grant: '0' })

    const response = await send(path, { model, prompt: 'A', image: base64(MEGABYTE) }, poor)

    expect(response.status).toBe(402)
    expect(inputFiles()).toEqual([])
    expect(await spooled()).toBe(0)
  })

  test('a body takes little memory while its file arrives', async () => {
    await sendHalf(1.4 * MEGABYTE, { path })
    await until('the file arrives', async () => (await spooled()) > 0)

    expect(await reserved()).toBe(2 * MEGABYTE)
  })
})

test('a body may have 4 MB beside its files, and no more', async () => {
  const roomy = await startScriptedVideos({ models })
  const { key } = await roomy.account({ grant: '1000' })
  const replyTo = (promptBytes: number) =>
    roomy.create(key, { model: 'film', prompt: 'x'.repeat(promptBytes), image: base64(1000) })

  const large = await replyTo(3.9 * MEGABYTE)
  const tooLarge = await replyTo(4 * MEGABYTE)
  const filesLeft = inputFilesIn(roomy.dataDir).filter(file => !file.includes(roomy.media.submits[0]!.jobId))

  await roomy.stop()
  expect(large.status).toBe(202)
  expect(await refusalOf(tooLarge)).toMatchObject({ status: 400, code: 'invalid_field' })
  expect(filesLeft).toEqual([])
})
