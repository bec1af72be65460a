/**
 * relay-process.ts PORT UPSTREAM_PORT: the simplest proxy in this runtime. It reads the whole request as bytes and
 * forwards it. It reads a JSON answer as a whole and returns it, and forwards a stream piece by piece as the client
 * reads. It does not parse anything.
 */
import type { Bytes } from '../../src/domain/bytes.ts'
import { workloads } from '../workloads/all.ts'
import { paces, streamPath, type Pace } from '../workloads/streams.ts'
import { endWithParent } from './end-with-parent.ts'

const paceNames = Object.keys(paces) as Pace[]
const upstream = `http://127.0.0.1:${process.argv[3]}`

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  idleTimeout: 0,
  development: false,
  routes: Object.fromEntries([
    ...workloads.map(({ path }) => [path, { POST: relayTo(upstream + path) }]),
    ...paceNames.map(pace => [streamPath(pace), { POST: streamFrom(upstream + streamPath(pace)) }]),
  ]),
})
endWithParent()

function relayTo(url: string): (request: Request) => Promise<Response> {
  return async request => {
    const response = await ask(url, { body: await request.bytes() })
    return new Response(await response.bytes(), {
      status: response.status,
      headers: { 'content-type': response.headers.get('content-type') ?? 'application/octet-stream' },
    })
  }
}

function streamFrom(url: string): (request: Request) => Promise<Response> {
  return async request => {
    const response = await ask(url, { body: await request.bytes(), signal: request.signal })
    if (response.body === null) throw new Error('The mock upstream sent no body.')
    const reader = response.body.getReader()
    const stream = new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: () => reader.cancel(),
      },
      { highWaterMark: 0 },
    )
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  }
}

function ask(
  url: string,
  { body, signal }: { readonly body: Bytes; readonly signal?: AbortSignal },
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body,
    redirect: 'manual',
    decompress: false,
    ...(signal && { signal }),
  })
}
