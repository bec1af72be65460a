import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import * as serverLimits from './server/limits.ts'
import type { RunningServer } from './server/server.ts'

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')

/** Runs the first example of a section, with replacements in its code, and returns what it exports. */
async function runExample(section: string, replacements: Record<string, string>): Promise<unknown> {
  const text = readme.slice(readme.indexOf(`## ${section}\n`))
  let code = /```ts\n([^]*?)```/.exec(text)?.[1] ?? ''
  code = code.replaceAll("from './", `from '${import.meta.dirname}/`)
  for (const [from, to] of Object.entries(replacements)) code = code.replace(from, to)
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  writeFileSync(join(folder, 'example.ts'), code)
  try {
    return await import(join(folder, 'example.ts'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the server example of the README works', async () => {
  const errors: unknown[] = []
  Object.assign(globalThis, { report: (error: unknown) => errors.push(error) })
  const replacements = {
    'port: 8080': 'port: 0',
    'const server': 'export const server',
    'console.error': 'report',
  }
  const { server } = (await runExample('Server', replacements)) as { server: RunningServer }

  const echoed = await fetch(server.url, { method: 'POST', body: 'hello' })
  const tooLarge = await fetch(server.url, { method: 'POST', body: 'x'.repeat(2 << 20) })
  await server.abort()

  expect(await echoed.text()).toBe('hello')
  expect(tooLarge.status).toBe(500)
  expect(errors).toMatchObject([{ code: 'body_too_large' }])
})

test('the client example of the README works', async () => {
  const server = Bun.serve({ port: 0, fetch: async request => new Response(`got ${await request.text()}`) })
  const replacements = { '127.0.0.1:8080': `127.0.0.1:${server.port}`, 'const text': 'export const text' }

  const { text } = (await runExample('Client', replacements)) as { text: string }
  await server.stop()

  expect(text).toBe('got hello')
})

test('the README has the limits of the server', () => {
  const limits = new Map(Object.entries(serverLimits))
  const rows = readme.split('\n').filter(line => /^\| `[A-Z_]+`/.test(line))
  const documented = rows.flatMap(row => {
    const [, names = '', values = ''] = row.split('|')
    const amounts = values.split(/, (?=\d+ )/)
    return [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = ''], index) => ({
      name,
      value: bytesOrMs(amounts[index] ?? ''),
    }))
  })

  expect(documented).toHaveLength(9)
  for (const { name, value } of documented) expect([name, limits.get(name)]).toEqual([name, value])
})

function bytesOrMs(text: string): number {
  const [, amount = '', unit = ''] = /([\d,]+) ?(\w*)/.exec(text) ?? []
  const factor = { KB: 1 << 10, MB: 1 << 20, s: 1000 }[unit] ?? 1
  return Number(amount.replace(',', '')) * factor
}
