import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

const MEGABYTE = 1024 * 1024
const FLOOD_MEGABYTES = 64

describe.skipIf(Bun.which('openssl') === null)('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'))
  const certificate = join(folder, 'cert.pem')
  let server: ReturnType<typeof Bun.serve>
  let sentMegabytes = 0

  beforeAll(() => {
    const key = join(folder, 'key.pem')
    makeCertificate(key, certificate)
    server = Bun.serve({
      port: 0,
      hostname: '0.0.0.0',
      idleTimeout: 0,
      tls: { key: Bun.file(key), cert: Bun.file(certificate) },
      routes: {
        '/': new Response('hi'),
        '/sent': () => new Response(String(sentMegabytes)),
        '/flood': () => new Response(flood()),
        '/host': request => new Response(request.headers.get('host')),
      },
    })
  })

  afterAll(async () => {
    await server.stop(true)
    rmSync(folder, { recursive: true })
  })

  function flood(): ReadableStream<Uint8Array> {
    const piece = new Uint8Array(MEGABYTE)
    return new ReadableStream(
      {
        pull(controller) {
          if (sentMegabytes === FLOOD_MEGABYTES) return controller.close()
          sentMegabytes += 1
          controller.enqueue(piece)
        },
      },
      { highWaterMark: 0 },
    )
  }

  const urlsOf = (hosts: readonly string[]) => hosts.map(host => `https://${host}:${server.port}`)

  test('TLS needs a trusted certificate for the host of the URL', async () => {
    const urls = urlsOf(['localhost', '127.0.0.1', '127.0.0.2'])
    const script = `report(await Promise.all(${JSON.stringify(urls)}.map(url => ask(url))))`

    const untrusting = await inChild(script, {})
    const trusting = await inChild(script, { NODE_EXTRA_CA_CERTS: certificate })

    expect(untrusting).toEqual(urls.map(() => 'DEPTH_ZERO_SELF_SIGNED_CERT'))
    expect(trusting).toEqual(['hi', 'hi', 'ERR_TLS_CERT_ALTNAME_INVALID'])
  })

  test('TLS connects to a pinned address, and checks the certificate for the host of the URL', async () => {
    const script = `report([
      await ask('https://pinned.test:${server.port}/host', '127.0.0.1'),
      await ask('https://other.test:${server.port}/host', '127.0.0.1'),
      await ask('https://localhost:${server.port}/host', '127.0.0.2'),
    ])`

    const results = await inChild(script, { NODE_EXTRA_CA_CERTS: certificate })

    expect(results).toEqual([
      `pinned.test:${server.port}`,
      'ERR_TLS_CERT_ALTNAME_INVALID',
      `localhost:${server.port}`,
    ])
  })

  test('a reader that stops reading stops the server, and gets every byte once it continues', async () => {
    const [url = ''] = urlsOf(['localhost'])

    const result = await inChild(
      `
      const flood = await send('${url}/flood')
      let read = (await flood.read()).length
      let stalledAt = -1
      for (let sent = 0; sent !== stalledAt; ) {
        stalledAt = sent
        for (let turn = 0; turn < 200; turn += 1) await new Promise(resolve => setImmediate(resolve))
        sent = Number(await ask('${url}/sent'))
      }
      for (let piece = await flood.read(); piece !== undefined; piece = await flood.read()) read += piece.length
      report({ stalledAt, read })`,
      { NODE_EXTRA_CA_CERTS: certificate },
    )

    const { stalledAt, read } = result as { readonly stalledAt: number; readonly read: number }
    expect(stalledAt).toBeLessThan(FLOOD_MEGABYTES / 2)
    expect(read).toBe(FLOOD_MEGABYTES * MEGABYTE)
  })
})

function makeCertificate(key: string, certificate: string): void {
  const names = [
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,DNS:pinned.test,IP:127.0.0.1',
  ]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const files = ['-keyout', key, '-out', certificate, '-days', '2']
  const made = Bun.spawnSync(['openssl', 'req', '-x509', ...kind, ...files, ...names])
  if (!made.success) throw new Error(made.stderr.toString())
}

/**
 * Runs the script in a new process, because a process reads its trusted certificates at its start. Gives what the
 * script reports.
 */
async function inChild(script: string, environment: Readonly<Record<string, string>>): Promise<unknown> {
  const program = `
    const { httpClient } = await import(${JSON.stringify(join(import.meta.dir, 'http-client.ts'))})
    const { httpRequest } = await import(${JSON.stringify(join(import.meta.dir, 'http-request.ts'))})
    const { Timers } = await import(${JSON.stringify(join(import.meta.dir, '../timers.ts'))})
    const http = httpClient(new Timers({ monotonicMs: () => performance.now(), after: () => () => {} }))
    const send = (url, pinnedAddress) =>
      http.send(httpRequest({ method: 'GET', url: new URL(url), ...(pinnedAddress === undefined ? {} : { pinnedAddress }) }))
    const ask = async (url, pinnedAddress) => {
      try {
        return (await (await send(url, pinnedAddress)).readAll(1000)).toString()
      } catch (error) {
        return error.code
      }
    }
    const report = result => console.log(JSON.stringify(result))
    ${script}
    http.close()`
  const child = Bun.spawn([process.execPath, '-e', program], { env: { ...process.env, ...environment } })
  return JSON.parse(await new Response(child.stdout).text()) as unknown
}
