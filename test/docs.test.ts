import { expect, test } from 'bun:test'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const pages = ['README.md', 'CHANGELOG.md', ...globSync(['docs/**/*.md', 'examples/*.md'], { cwd: root })]

/** The targets of a page's links as paths from the root, without links to the web and within the page. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  return targets.filter(target => !/^[a-z]+:/.test(target)).map(target => join(dirname(page), target))
}

test('every link between the pages has an existing target', () => {
  const links = pages.flatMap(page => linksOf(page).map(target => ({ page, target })))

  expect(links.length).toBeGreaterThan(20)
  expect(links.filter(({ target }) => !existsSync(join(root, target)))).toEqual([])
})

test('the README links to every page of the docs', () => {
  const linked = linksOf('README.md')

  expect(globSync('docs/*.md', { cwd: root }).filter(page => !linked.includes(page))).toEqual([])
})
