import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accepts, openProcesses } from '../../../bench/processes.ts'
import { debianProgram } from '../../support/debian-program.ts'
import { freePort } from '../../support/free-port.ts'
import { rawRequest } from '../../../src/http1/testing/raw-http.ts'
import { ADMIN_KEY, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

type Place = { readonly folder: string; readonly port: number; readonly gatewayPort: string }

/** The documented configuration on a free port and in front of this gateway, and how the proxy is started with it. */
const proxies: Readonly<
  Record<
    'nginx' | 'caddy',
    {
      readonly configuration: (place: Place) => string
      readonly argumentsFor: (folder: string, file: string) => string[]
    }
  >
> = {
  nginx: {
    configuration: nginxConfiguration,
    argumentsFor: (folder, file) => ['-p', folder, '-c', file, '-e', 'stderr'],
  },
  caddy: {
    configuration: caddyConfiguration,
    argumentsFor: (_, file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
}

// The first run on a machine fetches the programs. Code outside of tests has no time limit.
const programs = { nginx: await debianProgram('nginx'), caddy: await debianProgram('caddy') }

describe.each(['nginx', 'caddy'] as const)('behind the documented %s configuration', name => {
  const folder = mkdtempSync(join(tmpdir(), `tollgate-${name}-`))
  let port: number
  let gateway: ScriptedGateway
  const processes = openProcesses(folder)

  beforeAll(async () => {
    port = await freePort()
    gateway = await startScriptedGateway({ environment: { TOLLGATE_TRUST_PROXY: '127.0.0.1' } })
    const { configuration, argumentsFor } = proxies[name]
    const { path, environment } = programs[name]
    const file = join(folder, 'configuration')
    writeFileSync(file, configuration({ folder, port, gatewayPort: new URL(gateway.url).port }))
    const own = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    const command = [path, ...argumentsFor(folder, file)]
    await processes
      .start({ name, command, environment: { ...environment, ...own } })
      .ready(() => accepts(port))
  })
  afterAll(async () => {
    await processes.stopAll()
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
    'HTTPS://h//admin/api/accounts',
  ])('%s does not reach the admin API', async target => {
    expect(await statusOf(target)).toBe(404)
  })
})

function nginxConfiguration({ folder, port, gatewayPort }: Place): string {
  const server = deployed('nginx.conf', {
    '127.0.0.1:8787': `127.0.0.1:${gatewayPort}`,
    '# Add listen, server_name and certificates.': `listen 127.0.0.1:${port};`,
  })
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(kind => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n')
  return `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr warn;
events {}
http { access_log off; ${paths}
${server}}`
}

function caddyConfiguration({ port, gatewayPort }: Place): string {
  const site = deployed('Caddyfile', {
    'api.example.com {': `http://:${port} {\nbind 127.0.0.1`,
    '127.0.0.1:8787': `127.0.0.1:${gatewayPort}`,
  })
  return `{\nadmin off\nlog {\nlevel ERROR\n}\n}\n${site}`
}

/** A file of deploy/ with these texts replaced. */
function deployed(file: string, replaced: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(import.meta.dirname, '../../../deploy', file), 'utf8')
  return Object.entries(replaced).reduce((sum, [from, to]) => {
    if (!sum.includes(from)) throw new Error(`deploy/${file} has no "${from}".`)
    return sum.replace(from, to)
  }, text)
}
