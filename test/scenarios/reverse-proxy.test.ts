import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accepts, freePort } from '../../bench/processes.ts'
import { rawRequest } from './raw-http.ts'
import { ADMIN_KEY, startScriptedGateway, type ScriptedGateway } from './scripted-gateway.ts'
import { until } from './until.ts'

// nginx is often in a system folder that is not in PATH.
const nginx = Bun.which('nginx', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` })

describe.skipIf(nginx === null)('behind the nginx block of docs/operating.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-nginx-'))
  const port = freePort()
  let gateway: ScriptedGateway
  let running: Bun.Subprocess

  beforeAll(async () => {
    gateway = await startScriptedGateway({ environment: { TOLLGATE_TRUST_PROXY: '127.0.0.1' } })
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, configuration(folder, port, new URL(gateway.url).port))
    running = Bun.spawn([nginx ?? '', '-p', folder, '-c', file, '-e', 'stderr'], { stderr: 'inherit' })
    await until('nginx accepts connections', () => accepts(port))
  })
  afterAll(async () => {
    running.kill()
    await running.exited
    await gateway.stop()
    rmSync(folder, { recursive: true })
  })

  const statusOf = async (target: string) => {
    const head = `GET ${target} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${ADMIN_KEY}\r\nconnection: close\r\n\r\n`
    return Number((await rawRequest(`http://127.0.0.1:${port}`, head)).slice(9, 12))
  }

  test('the API can be called', async () => {
    expect(await statusOf('/health/live')).toBe(200)
    expect(await statusOf('/v1/models')).toBe(401)
  })

  test.each([
    '/admin/api/accounts',
    '/ADMIN/api/accounts',
    '//admin/api/accounts',
    '/admin/api/accounts?x=1',
    '/admin/api/../../v1/models',
    '/admin/x/../../admin/api/accounts',
    '/v1/../admin/api/accounts',
    '/v1/%2e%2e/admin/api/accounts',
    '/%61dmin/api/accounts',
    '/metrics',
    '/metrics?x=1',
    '/metrics/../metrics',
    'http://h/admin/api/accounts',
  ])('%s does not reach the admin API', async target => {
    expect(await statusOf(target)).toBe(404)
  })
})

/** The documented server, on a free port and in front of this gateway. */
function configuration(folder: string, port: number, gatewayPort: string): string {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
  const [, block = ''] = /```nginx\n([\s\S]*?)```/.exec(docs) ?? []
  const server = block
    .replace('127.0.0.1:8787', `127.0.0.1:${gatewayPort}`)
    .replace('# Add listen, server_name and certificates.', `listen 127.0.0.1:${port};`)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  return `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr warn;
events {}
http { access_log off; ${paths}
${server}}`
}
