import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { describeConfig } from './config.ts'

test('the settings table of the docs says what the code does', () => {
  const docs = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')

  const documented = docs
    .split('\n')
    .filter(line => line.startsWith('| `TOLLGATE_'))
    .map(line =>
      line
        .slice(1, -1)
        .split('|')
        .map(cell => cell.trim()),
    )

  expect(documented).toEqual(
    describeConfig({}).map(({ name, default: standard, meaning }) => [
      `\`${name}\``,
      standard === null ? '–' : `\`${standard}\``,
      meaning,
    ]),
  )
})
