import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { directives } from './media/directives.ts'
import { optionReaders } from './wire.ts'

const docs = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')

test.each<[string, object]>([
  ['member', optionReaders],
  ['directive', directives],
])('the documentation names every %s that controls the sandbox', (head, controls) => {
  const [, table = ''] = new RegExp(`^\\| ${head} .*\\n((?:\\|.*\\n)+)`, 'm').exec(docs) ?? []

  const documented = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)

  expect(new Set(documented)).toEqual(new Set(Object.keys(controls)))
})
