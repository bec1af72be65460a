/**
 * relay-process.ts PORT UPSTREAM_PORT: the least that a JSON proxy can do in this runtime. It reads the whole request as
 * bytes, sends it on, reads the whole answer as bytes, and passes it back; it looks into neither.
 */
import { workloads } from '../workloads/all.ts'
import { endWithParent } from './end-with-parent.ts'

const upstream = `http://127.0.0.1:${process.argv[3]}`

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  idleTimeout: 0,
  development: false,
  routes: Object.fromEntries(workloads.map(({ path }) => [path, { POST: relayTo(upstream + path) }])),
})
endWithParent()

function relayTo(url: string): (request: Request) => Promise<Response> {
  return async request => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: await request.bytes(),
      redirect: 'manual',
      decompress: false,
    })
    return new Response(await response.bytes(), {
      status: response.status,
      headers: { 'content-type': response.headers.get('content-type') ?? 'application/octet-stream' },
    })
  }
}
