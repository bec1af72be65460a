import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { describeConfig } from './config.ts'

test('docs/settings.md lists every setting in its section, with its default and its meaning', () => {
  const docs = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')

  const documented = docs.split(/^## /m).flatMap(part => {
    const [section = '', ...lines] = part.split('\n')
    return lines
      .filter(line => line.startsWith('| `TOLLGATE_'))
      .map(line => [section].concat(line.split('|').map(cell => cell.trim())))
  })

  expect(documented).toEqual(
    describeConfig({}).map(({ section, name, default: standard, meaning }) => {
      const shown = standard === null ? 'none' : `\`${standard}\``
      return [section, '', `\`${name}\``, shown, meaning, '']
    }),
  )
})
