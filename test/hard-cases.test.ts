import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const page = readFileSync(new URL('docs/hard-cases.md', root), 'utf8')

/** Those of text and of running it. */
const NUMBERS = [...Array.from({ length: 29 }, (_, index) => index + 1), 39, 40, 41]

type Named = { readonly file: string; readonly title: string }

/** The sections of the page, each with the tests that it names. */
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

test('docs/hard-cases.md has every case in order, each with a test', () => {
  expect(cases.map(({ number }) => number)).toEqual(NUMBERS)
  expect(cases.filter(({ tests }) => tests.length === 0)).toEqual([])
})

test('every test that docs/hard-cases.md names is there', () => {
  const named = cases.flatMap(({ tests }) => tests)

  expect(named.length).toBeGreaterThan(NUMBERS.length)
  expect(named.filter(one => !isThere(one))).toEqual([])
})

/** Its file has the title in quotes: as a test's own, or as the first cell of a line in its table. */
function isThere({ file, title }: Named): boolean {
  const path = new URL(file, root)
  if (!existsSync(path)) return false
  const source = readFileSync(path, 'utf8')
  return ["'", '"', '`'].some(quote => source.includes(quote + title + quote))
}
