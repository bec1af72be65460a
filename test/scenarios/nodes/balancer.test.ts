import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rawRequest } from '../../../src/http1/testing/raw-http.ts'
import { debianProgram } from '../../support/debian-program.ts'
import { freePort } from '../../support/free-port.ts'
import { PROCESS_START_MS_MAX, until } from '../../support/until.ts'

const caddy = await debianProgram('caddy')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-balancer-'))
const port = await freePort()
const url = `http://127.0.0.1:${port}`

/** A server in the place of a gateway. It answers with its name, and is ready or not. */
function aGateway(name: string) {
  const state = { isReady: true, served: 0, refusedChecks: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      if (new URL(request.url).pathname === '/health/ready') {
        if (!state.isReady) state.refusedChecks += 1
        return new Response(null, { status: state.isReady ? 200 : 503 })
      }
      state.served += 1
      return new Response(name)
    },
  })
  return { state, server, address: `127.0.0.1:${server.port}` }
}

const [one, other] = [aGateway('one'), aGateway('other')]
let balancer: Bun.Subprocess

beforeAll(async () => {
  const file = join(folder, 'Caddyfile')
  const deployed = readFileSync(resolve(import.meta.dirname, '../../../deploy/nodes/Caddyfile'), 'utf8')
  const site = deployed
    .replace('http://:8787 {', `http://:${port} {\nbind 127.0.0.1`)
    .replace('gateway-1:8787', one.address)
    .replace('gateway-2:8787', other.address)
    .replace('health_interval 2s', 'health_interval 50ms')
    // So that a busy machine makes no gateway look down.
    .replace('health_timeout 2s', 'health_timeout 60s')
  writeFileSync(file, `{\nadmin off\nlog {\nlevel ERROR\n}\n}\n${site}`)
  balancer = Bun.spawn([caddy.path, 'run', '--adapter', 'caddyfile', '--config', file], {
    env: { ...process.env, ...caddy.environment, HOME: folder },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const isUp = () =>
    fetch(`${url}/health/live`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the balancer listens', isUp, PROCESS_START_MS_MAX)
}, PROCESS_START_MS_MAX)

afterAll(async () => {
  balancer.kill()
  await balancer.exited
  await Promise.all([one.server.stop(true), other.server.stop(true)])
  rmSync(folder, { recursive: true })
})

const answers = async () => {
  const texts = Array.from({ length: 20 }, async () => (await fetch(`${url}/v1/models`)).text())
  return new Set(await Promise.all(texts))
}

describe('the balancer in deploy/nodes', () => {
  test('the balancer sends requests to both gateways', async () => {
    await until('both answer', async () => (await answers()).size === 2)
  })

  test('the balancer sends nothing to a gateway that is not ready, until it is again', async () => {
    one.state.isReady = false
    // All requests may also go to one gateway by chance, and the answer of the first check may still be on its way.
    await until('the balancer asks again', () => one.state.refusedChecks >= 3)
    await until('the balancer sees it', async () => [...(await answers())].join() === 'other')
    const before = one.state.served

    expect(await answers()).toEqual(new Set(['other']))
    expect(one.state.served).toBe(before)
    one.state.isReady = true
    await until('both answer again', async () => (await answers()).size === 2)
  })

  test('the balancer sends a request to the other gateway if one does not accept it', async () => {
    await other.server.stop(true)

    expect(await answers()).toEqual(new Set(['one']))
  })

  test.each([
    '/admin/api/accounts',
    '//ADMIN/api',
    '/admin/x/../../v1/models',
    '/metrics',
    'http://h/metrics',
  ])('%s does not reach a gateway through the balancer', async target => {
    const before = one.state.served
    const head = `GET ${target} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`

    expect(await rawRequest(url, head)).toStartWith('HTTP/1.1 404')
    expect(one.state.served).toBe(before)
  })
})
