import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const dist = join(root, 'console/dist')
const FIRST_PAGE_BYTES_MAX = 120 * 1024

test('the first page of the console is at most 120 KB with gzip', () => {
  const page = readFileSync(join(dist, 'index.html'), 'utf8')
  const [, main = ''] = /src="assets\/(main-[^"]+)"/.exec(page) ?? []
  const linked = [...page.matchAll(/assets\/([\w.-]+)/g)].map(([, name = '']) => name)
  // All chunks that scripts import statically come with the first page; those of pages do not.
  const imported = [...readFileSync(join(dist, 'assets', main), 'utf8').matchAll(/from"\.\/([\w.-]+)"/g)]
  const names = [...linked, ...imported.map(([, name = '']) => name)]

  const bytes = names.map(name => readFileSync(compressed(name)).length).reduce((sum, size) => sum + size, 0)

  expect(names.length).toBeGreaterThan(3)
  expect(bytes).toBeLessThan(FIRST_PAGE_BYTES_MAX)
})

function compressed(name: string): string {
  const assets = join(dist, 'assets')
  return join(assets, readdirSync(assets).includes(`${name}.gz`) ? `${name}.gz` : name)
}

test('the types of the console are those of the OpenAPI document', async () => {
  const script = join(root, 'scripts/console-types.ts')
  const child = Bun.spawn([process.execPath, script, '--print'], { stdout: 'pipe' })
  const types = await new Response(child.stdout).text()

  // Otherwise: npm run console-types
  expect(types === readFileSync(join(root, 'console/src/api/schema.d.ts'), 'utf8')).toBe(true)
})

test('the parts of pages import no page, so that each page is read and loaded by itself', () => {
  const parts = join(root, 'console/src/parts')
  const textOf = (file: string) => readFileSync(join(parts, file), 'utf8')

  const wrong = readdirSync(parts).filter(file => /from '\.\.\/(?:pages\/|routes|app)/.test(textOf(file)))

  expect(wrong).toEqual([])
})
