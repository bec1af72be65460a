import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'

const modules = join(import.meta.dir, '../..')

/** Asks for one URL in a new process, where each name has the address 127.0.0.1 and private addresses are allowed. */
async function fetchInChild(url: string, environment: Readonly<Record<string, string>>): Promise<unknown> {
  const program = `
    const load = path => import(${JSON.stringify(modules)} + '/' + path)
    const { untrustedFetch } = await load('providers/fetch-untrusted/fetch-untrusted.ts')
    const { httpClient } = await load('http1/client/http-client.ts')
    const { Timers } = await load('http1/timers.ts')
    const clock = { now: () => 0, monotonicMs: () => performance.now(), after: () => () => {} }
    const http = httpClient(new Timers(clock))
    const resolve = async () => ['127.0.0.1']
    const fetch = untrustedFetch({ http, resolve, clock, version: '1.2.3', allowsPrivate: true })
    const outcome = await fetch(${JSON.stringify(url)}, {
      bytesMax: 1000,
      timeoutMs: 60_000,
      authorization: { hosts: [new URL(${JSON.stringify(url)}).host], headers: { 'x-key': 'key' } },
    })
    const piece = outcome.outcome === 'opened' ? await outcome.body.read() : undefined
    if (piece !== undefined) outcome.body.cancel()
    console.log(JSON.stringify(piece === undefined ? outcome : new TextDecoder().decode(piece)))`
  const child = Bun.spawn([process.execPath, '-e', program], { env: { ...process.env, ...environment } })
  return JSON.parse(await new Response(child.stdout).text()) as unknown
}

describe.skipIf(Bun.which('openssl') === null)('over TLS', () => {
  const folder = aDataFolder()
  const certificate = join(folder, 'cert.pem')
  let server: ReturnType<typeof Bun.serve>

  beforeAll(() => {
    const key = join(folder, 'key.pem')
    const names = ['-subj', '/CN=site.test', '-addext', 'subjectAltName=DNS:site.test']
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    const files = ['-keyout', key, '-out', certificate, '-days', '2']
    const made = Bun.spawnSync(['openssl', 'req', '-x509', ...kind, ...files, ...names])
    if (!made.success) throw new Error(made.stderr.toString())
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { key: Bun.file(key), cert: Bun.file(certificate) },
      fetch: request => new Response(`${request.headers.get('host')}, ${request.headers.get('x-key')}`),
    })
  })

  afterAll(() => server.stop(true))

  test('the certificate must be for the host of the URL, and be trusted', async () => {
    const trusting = { NODE_EXTRA_CA_CERTS: certificate }
    const site = `https://site.test:${server.port}/`

    const [own, other, literal, untrusted] = await Promise.all([
      fetchInChild(site, trusting),
      fetchInChild(`https://other.test:${server.port}/`, trusting),
      fetchInChild(`https://127.0.0.1:${server.port}/`, trusting),
      fetchInChild(site, {}),
    ])

    const failed = (code: string) => ({
      outcome: 'failed',
      problem: `connection: ${code}`,
      isPermanent: false,
    })
    expect(own).toBe(`site.test:${server.port}, key`)
    expect(other).toEqual(failed('ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(literal).toEqual(failed('ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(untrusted).toEqual(failed('DEPTH_ZERO_SELF_SIGNED_CERT'))
  })
})

test('proxies that the environment names are not used', async () => {
  let proxied = 0
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      proxied += 1
      return new Response('by way of the proxy')
    },
  })
  const site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('direct') })
  const url = `http://127.0.0.1:${proxy.port}`

  const outcome = await fetchInChild(`http://site.test:${site.port}/`, {
    HTTP_PROXY: url,
    http_proxy: url,
    HTTPS_PROXY: url,
    ALL_PROXY: url,
    NO_PROXY: '',
    no_proxy: '',
  })

  expect(outcome).toBe('direct')
  expect(proxied).toBe(0)
  await Promise.all([proxy.stop(true), site.stop(true)])
})
