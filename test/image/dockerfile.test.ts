import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'bun:test'
import { parse } from 'yaml'
import { commandOf, parseDockerfile, variablesOf } from './dockerfile.ts'

const root = resolve(import.meta.dirname, '../..')
const text = (file: string) => readFileSync(join(root, file), 'utf8')
const stages = parseDockerfile(text('Dockerfile'))
const last = (name: string) => stages.at(-1)!.instructions.findLast(instruction => instruction.name === name)!
const { services } = parse(text('compose.yaml')) as {
  services: { tollgate: Readonly<Record<string, unknown>> }
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
  const { BUN_JSC_forceRAMSize, BUN_CONFIG_MAX_HTTP_REQUESTS } = variablesOf(last('ENV'))

  expect(text('bin/tollgate')).toContain(`BUN_JSC_forceRAMSize:-${BUN_JSC_forceRAMSize}}`)
  expect(text('scripts/bun.sh')).toContain(`BUN_CONFIG_MAX_HTTP_REQUESTS:-${BUN_CONFIG_MAX_HTTP_REQUESTS}}`)
})

test('the image runs without root, with a health check, and stores its data in its volume', () => {
  const dataDir = variablesOf(last('ENV'))['TOLLGATE_DATA_DIR']

  expect(Number(last('USER').text)).toBeGreaterThan(0)
  expect(commandOf(last('HEALTHCHECK'))[0]).toBe('bun')
  expect(last('VOLUME').text).toBe(dataDir!)
  expect(services.tollgate['volumes']).toEqual([`data:${dataDir}`])
})

test('the service has no rights that it does not need, and is reached only from its machine', () => {
  expect(services.tollgate).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    ports: ['127.0.0.1:8787:8787'],
  })
})
