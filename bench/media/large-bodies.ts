import type { Socket } from 'node:net'
import { openLoad } from '../load.ts'
import type { Gateway } from '../peers/gateway.ts'
import { percentile } from '../statistics.ts'
import { chat } from '../workloads/chat.ts'
import { makeClip } from './clip-job.ts'
import { referencesBody } from './image-request.ts'
import { lengthOf, openRaw, readAll, writeAll } from './raw-client.ts'
import { CLIP_BYTES, MEGABYTE, REFERENCE_BYTES } from './sizes.ts'
import type { MediaServers } from './start-media.ts'
import { watchMemory, type MemoryUse } from './watch-memory.ts'

/** The memory of the gateway while it has large bodies, and what has become of the requests. */
export type LargeBodies = MemoryUse & { readonly load: string; readonly outcome: string }

const REFERENCES = 20
/** A body just below 640 MB, the default of TOLLGATE_MAX_MEDIA_BODY_MB. */
const LARGEST_REFERENCES = 24
const LARGEST_REFERENCE_BYTES = REFERENCE_BYTES - 1024
const READERS = 20
/** Each reader takes a clip in 20 seconds. */
const READER_BYTES_PER_S = 5 * MEGABYTE
const READ_EVERY_MS = 50
const KEYS = 10
const HALF_SENT = 100
const BODY_BYTES = 60 * MEGABYTE
/** Longer than a body waits for its memory. */
const HALF_SENT_MS = 20_000
const SMALL_REQUESTS = 500
/** As many as one key gets memory for. */
const WHOLE = 4

export async function measureLargeBodies(
  servers: MediaServers,
  logProgress: (line: string) => void,
): Promise<LargeBodies[]> {
  const results: LargeBodies[] = []
  for (const [load, measure] of Object.entries(loads)) {
    logProgress(load)
    const { result, ...memory } = await watchMemory(servers.gateway, () => measure(servers))
    results.push({ load, ...memory, outcome: result })
  }
  return results
}

const loads: Readonly<Record<string, (servers: MediaServers) => Promise<string>>> = {
  '20 references of 20 MB in one request': servers => sendReferences(servers, REFERENCES, REFERENCE_BYTES),
  '24 references in one body of 640 MB': servers =>
    sendReferences(servers, LARGEST_REFERENCES, LARGEST_REFERENCE_BYTES),
  '100 MB clip to 20 slow readers': readSlowly,
  '100 half-sent bodies of 60 MB, 10 keys': sendHalves,
  '4 whole bodies of 60 MB': sendWhole,
}

async function sendReferences(
  { gateway, provider }: MediaServers,
  references: number,
  bytes: number,
): Promise<string> {
  const body = referencesBody(references, bytes)
  const path = '/v1/images/edits'
  const socket = await openRaw(gateway, { method: 'POST', path, bodyBytes: lengthOf(body) })
  const reply = readAll(socket)
  await writeAll(socket, body)
  const status = statusOf(await reply)
  const received = await (await fetch(`http://127.0.0.1:${provider.port}/images-max`)).text()
  return `status ${status}, ${received} images at the provider`
}

async function readSlowly({ gateway }: MediaServers): Promise<string> {
  const path = `/v1/videos/${await makeClip(gateway)}/content`
  const lengths = await Promise.all(Array.from({ length: READERS }, () => readOneSlowly(gateway, path)))
  const whole = lengths.filter(length => length > CLIP_BYTES).length
  return `${whole} of ${READERS} read the whole clip`
}

/** The number of bytes of the reply. */
async function readOneSlowly(gateway: Gateway, path: string): Promise<number> {
  const socket = await openRaw(gateway, { method: 'GET', path })
  let length = 0
  const start = performance.now()
  socket.on('data', bytes => {
    length += bytes.length
    const aheadMs = (length / READER_BYTES_PER_S) * 1000 - (performance.now() - start)
    if (aheadMs < READ_EVERY_MS) return
    socket.pause()
    setTimeout(() => socket.resume(), aheadMs)
  })
  await new Promise(resolve => {
    socket.once('close', resolve)
  })
  return length
}

/** Meanwhile, another key sends small requests, one after the other. */
async function sendHalves({ gateway }: MediaServers): Promise<string> {
  const keys = await Promise.all(Array.from({ length: KEYS }, (_, index) => gateway.newKey(`half ${index}`)))
  const sockets: Socket[] = []
  const replies: string[] = []
  const half = Array.from({ length: 30 }, () => Buffer.alloc(MEGABYTE, ' '))
  for (let count = 0; count < HALF_SENT; count += 1) {
    const key = keys[count % KEYS]!
    const socket = await openRaw(gateway, { method: 'POST', path: chat.path, key, bodyBytes: BODY_BYTES })
    sockets.push(socket)
    void readAll(socket).then(reply => replies.push(reply))
    void writeAll(socket, half)
  }
  const load = await openLoad(gateway, chat, 1)
  const { latenciesMs } = await load.run(SMALL_REQUESTS)
  await Bun.sleep(HALF_SENT_MS)
  load.close()
  const refused = replies.filter(reply => statusOf(reply) === '503').length
  for (const socket of sockets) socket.destroy()
  const p99 = percentile(latenciesMs, 0.99).toFixed(1)
  return `${refused} refused with 503; ${SMALL_REQUESTS} small requests served, p99 ${p99} ms`
}

async function sendWhole({ gateway }: MediaServers): Promise<string> {
  const statuses = await Promise.all(
    Array.from({ length: WHOLE }, async (_, index) => {
      const padding = Buffer.alloc(MEGABYTE, ' ')
      const request = `${chat.body.before}${index}${chat.body.after}`
      const body = [...Array.from({ length: 59 }, () => padding), request]
      const bodyBytes = lengthOf(body)
      const socket = await openRaw(gateway, { method: 'POST', path: chat.path, bodyBytes })
      const reply = readAll(socket)
      await writeAll(socket, body)
      return statusOf(await reply)
    }),
  )
  return `${statuses.filter(status => status === '200').length} of ${WHOLE} answered with 200`
}

function statusOf(reply: string): string {
  return reply.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
}
