import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseCatalogFile } from '../src/catalog-file/catalog-file.ts'
import { rejection } from './support/rejection.ts'
import { startTestGateway, type TestGateway } from './support/gateway.ts'

const examples = resolve(import.meta.dirname, '../examples')
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.stop())

test('the example catalog is valid', () => {
  const parsed = parseCatalogFile(readFileSync(join(examples, 'catalog.yaml'), 'utf8'))

  expect(parsed.ok ? [] : parsed.problems).toEqual([])
})

test('the new-customer example credits once, even if it is repeated, and its key works', async () => {
  await run('new-customer.sh', 'ada', '5')
  const { key } = JSON.parse(await run('new-customer.sh', 'ada', '5')) as { key: string }

  const before = await gateway.admin('GET', 'accounts/ada')
  const answer = await run('chat.sh', key)

  expect(before).toMatchObject({ available_usd: '5' })
  expect(answer).toMatch(/^HTTP\/1\.1 200/)
  expect(answer).toMatch(/^x-service-cost-usd: 0\.\d+\r$/im)
})

test.each([
  ['first-requests.sh', ['tg_live_wrong'], 'invalid_api_key'],
  ['new-customer.sh', ['bea', 'ten'], 'invalid_field'],
])('%s prints the error body of a refused request and fails', async (script, args, code) => {
  const ran = await rejection(run(script, ...args))

  expect(String(ran)).toContain(`"code":"${code}"`)
})

test('the SDK example prints an answer and its cost', async () => {
  const { key } = await gateway.account()

  const output = await run('openai-sdk.mjs', key)

  expect(output).toMatch(/^This is the sandbox.*\ncost: 0\.\d+ USD\n$/)
})

test('the README shows the usage that its request gets', async () => {
  const readme = readFileSync(resolve(examples, '../README.md'), 'utf8')
  const shown = /"usage": (\{[^}]*\})/.exec(readme)?.[1] ?? ''
  const request = /-d '([^']*)'/.exec(readme)?.[1] ?? ''
  const { key } = await gateway.account()

  const answer = (await (await gateway.chat(key, request)).json()) as { usage: object }

  expect(answer.usage).toEqual(JSON.parse(shown))
})

async function run(script: string, ...args: string[]): Promise<string> {
  const runtime = script.endsWith('.mjs') ? process.execPath : 'sh'
  const child = Bun.spawn([runtime, join(examples, script), ...args], {
    env: { PATH: process.env['PATH'], GATEWAY_URL: gateway.url, TOLLGATE_ADMIN_KEY: 'tg_admin_for_tests' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${script} exited with ${code}: ${err}${out}`)
  return out
}
