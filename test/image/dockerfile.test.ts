import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'bun:test'
import { parse } from 'yaml'
import { refusedUrl } from '../support/upstream.ts'
import { commandOf, parseDockerfile, variablesOf } from './dockerfile.ts'

const root = resolve(import.meta.dirname, '../..')
const text = (file: string) => readFileSync(join(root, file), 'utf8')
const stages = parseDockerfile(text('Dockerfile'))
const last = (name: string) => stages.at(-1)!.instructions.findLast(instruction => instruction.name === name)!
const { services, volumes } = parse(text('compose.yaml')) as {
  services: { tollgate: Readonly<Record<string, unknown>> }
  volumes: object
}

test('the image gets every file that it copies, and no other', () => {
  const copied = stages
    .flatMap(({ instructions }) => instructions)
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
    .flatMap(({ text }) => text.split(' ').slice(0, -1))
  const allowed = text('.dockerignore')
    .split('\n')
    .filter(line => line.startsWith('!'))
    .map(line => line.slice(1))

  expect(text('.dockerignore')).toStartWith('*\n')
  expect(new Set(copied)).toEqual(new Set(allowed))
  expect(allowed.filter(path => !existsSync(join(root, path)))).toEqual([])
})

test('the image starts the runtime with the same settings as bin/tollgate', () => {
  const { BUN_JSC_forceRAMSize, MIMALLOC_PURGE_DELAY, BUN_CONFIG_MAX_HTTP_REQUESTS } = variablesOf(
    last('ENV'),
  )

  expect(text('bin/tollgate')).toContain(`BUN_JSC_forceRAMSize:-${BUN_JSC_forceRAMSize}}`)
  expect(text('bin/tollgate')).toContain(`MIMALLOC_PURGE_DELAY:-${MIMALLOC_PURGE_DELAY}}`)
  expect(text('scripts/bun.sh')).toContain(`BUN_CONFIG_MAX_HTTP_REQUESTS:-${BUN_CONFIG_MAX_HTTP_REQUESTS}}`)
})

test('the image runs without root, with a health check, and stores its data in its volume', () => {
  const dataDir = variablesOf(last('ENV'))['TOLLGATE_DATA_DIR']

  expect(Number(last('USER').text)).toBeGreaterThan(0)
  expect(commandOf(last('HEALTHCHECK'))[0]).toBe('bun')
  expect(last('VOLUME').text).toBe(dataDir!)
  expect(services.tollgate['volumes']).toContain(`data:${dataDir}`)
})

test('backups have a volume of their own, in a folder of the image that its user can write', () => {
  const folder = '/var/backups/tollgate'

  expect(services.tollgate['volumes']).toContain(`backups:${folder}`)
  expect(volumes).toEqual({ data: null, backups: null })
  expect(last('RUN').text).toEndWith(`install --directory --owner=tollgate --mode=700 ${folder}`)
})

const asked: string[] = []
const answering = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: request => {
    asked.push(new URL(request.url).pathname)
    return new Response(null, { status: asked.length === 1 ? 200 : 503 })
  },
})
afterAll(() => answering.stop(true))

/** The exit code of the health check of the image. */
function healthCheck(environment: Readonly<Record<string, string>>): Promise<number> {
  const [, ...options] = commandOf(last('HEALTHCHECK'))
  return Bun.spawn([process.execPath, ...options], {
    env: { PATH: process.env['PATH'], ...environment },
    stdout: 'ignore',
    stderr: 'ignore',
  }).exited
}

test('the health check asks the port of the gateway without the proxy, and fails for a gateway that is not live', async () => {
  const { port: refusing } = new URL(refusedUrl())
  const environment = {
    TOLLGATE_PORT: String(answering.port),
    HTTP_PROXY: `http://127.0.0.1:${refusing}`,
    http_proxy: `http://127.0.0.1:${refusing}`,
  }

  const live = await healthCheck(environment)
  const unavailable = await healthCheck(environment)
  const stopped = await healthCheck({ TOLLGATE_PORT: refusing })

  expect([live, unavailable, stopped]).toEqual([0, 1, 1])
  expect(asked).toEqual(['/health/live', '/health/live'])
})

test('the service has no rights that it does not need, and is reached only from its machine', () => {
  expect(services.tollgate).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    ports: ['127.0.0.1:8787:8787'],
  })
})
