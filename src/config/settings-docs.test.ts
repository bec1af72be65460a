import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { describeConfig } from './config.ts'

test('docs/settings.md lists every setting with its default and its meaning', () => {
  const docs = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')

  const documented = docs
    .split('\n')
    .filter(line => line.startsWith('| `TOLLGATE_'))
    .map(line => line.split('|').map(cell => cell.trim()))

  expect(documented).toEqual(
    describeConfig({}).map(({ name, default: standard, meaning }) => {
      const shown = standard === null ? 'none' : `\`${standard}\``
      return ['', `\`${name}\``, shown, meaning, '']
    }),
  )
})
