import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
/** A title may continue on the next line. */
const page = readFileSync(new URL('docs/hard-cases.md', root), 'utf8').replaceAll(/\n {2}(?=\S)/g, ' ')

const NUMBERS = Array.from({ length: 41 }, (_, index) => index + 1)

type NamedTest = { readonly file: string; readonly title: string }

/** The sections of the page, with the tests that they name. */
const cases = page
  .split(/^### /m)
  .slice(1)
  .map(section => ({
    number: Number.parseInt(section, 10),
    tests: [...section.matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, file = '', title = '']) => ({
      file,
      title,
    })),
  }))

test('docs/hard-cases.md has every case in order, with at least one test', () => {
  expect(cases.map(({ number }) => number)).toEqual(NUMBERS)
  expect(cases.filter(({ tests }) => tests.length === 0)).toEqual([])
})

test('every test that docs/hard-cases.md names exists', () => {
  const named = cases.flatMap(({ tests }) => tests)

  expect(named.length).toBeGreaterThan(NUMBERS.length)
  expect(named.filter(one => !exists(one))).toEqual([])
})

/** The file has the title in quotes: as the title of a test, or as the first cell of a table row. */
function exists({ file, title }: NamedTest): boolean {
  const path = new URL(file, root)
  if (!existsSync(path)) return false
  const source = readFileSync(path, 'utf8')
  return ["'", '"', '`'].some(quote => source.includes(quote + title + quote))
}
