import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { parseOptions } from '../bench/options.ts'
import { areas } from './mutants/areas.ts'
import { root, snippetsOf } from './support/snippets.ts'

/**
 * Pages whose commands run for minutes, or run the tests themselves. They are not carried out, but everything that they
 * name must exist.
 */
const pages = ['CONTRIBUTING.md', 'docs/testing.md', 'docs/benchmarks.md']
const commands = pages.flatMap(page =>
  snippetsOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'))
    .map(line => line.replace(/\s+#.*$/, '')),
)
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
const namedIn = (pattern: RegExp) =>
  commands.flatMap(command => [...command.matchAll(pattern)].map(([, name = '']) => [name, command] as const))

describe('of the commands of the pages for developers', () => {
  test('every script of npm exists', () => {
    const named = namedIn(/npm (?:run )?(test|start|(?<=run )\w+)/g)

    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(([name]) => !(name in scripts))).toEqual([])
  })

  test('every file exists', () => {
    const named = namedIn(/(?<=\s)([\w./-]+\.(?:ts|sh))\b/g)

    expect(named.length).toBeGreaterThan(3)
    expect(named.filter(([path]) => !existsSync(join(root, path)))).toEqual([])
  })

  test('every selected test has a title of its file', () => {
    const [selected = ['', '']] = namedIn(/-t '(.*)'/g)
    const [, path = ''] = /npm test -- (\S+) -t/.exec(selected[1]) ?? []

    expect(readFileSync(join(root, path), 'utf8')).toContain(selected[0])
  })

  test.each(namedIn(/npm run bench(?: -- )?(.*)$/g))('the benchmark takes the options "%s"', options => {
    expect(() => parseOptions(options.split(' ').filter(word => word !== ''))).not.toThrow()
  })

  test('every area of mutants and every mutant exists', () => {
    const mutants = Object.values(areas).flat()

    expect(namedIn(/--area (\w+)/g).map(([area]) => area in areas)).toEqual([true])
    expect(namedIn(/--only '(.*)'/g).map(([name]) => mutants.some(mutant => mutant.name === name))).toEqual([
      true,
    ])
  })
})
