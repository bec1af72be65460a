import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { describeConfig } from './config.ts'

test('docs/operating.md lists every setting with its default and its meaning', () => {
  const docs = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')

  const documented = docs
    .replaceAll(/\n {2}(?=\S)/g, ' ')
    .split('\n')
    .filter(line => line.startsWith('- `TOLLGATE_'))

  expect(documented).toEqual(
    describeConfig({}).map(({ name, default: standard, meaning }) => {
      const shown = standard === null ? 'no default' : `default \`${standard}\``
      return `- \`${name}\` (${shown}): ${meaning}`
    }),
  )
})
