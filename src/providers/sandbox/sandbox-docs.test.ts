import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { MediaDirectives } from './media/directives.ts'
import { SandboxOptions } from './wire.ts'

const docs = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')

test.each([
  ['member', SandboxOptions],
  ['directive', MediaDirectives],
])('the documentation names every %s that controls the sandbox', (head, { shape }) => {
  const [, table = ''] = new RegExp(`^\\| ${head} .*\\n((?:\\|.*\\n)+)`, 'm').exec(docs) ?? []

  const documented = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)

  expect(new Set(documented)).toEqual(new Set(Object.keys(shape)))
})
