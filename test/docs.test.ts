import { expect, test } from 'bun:test'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { anchorsOf, linksOf, sectionLinksOf } from './support/page-links.ts'

const root = resolve(import.meta.dirname, '..')
const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...globSync(['docs/**/*.md', 'examples/*.md'], { cwd: root }),
]
const COLUMNS_MAX = 120

function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

test('every link between the pages has an existing target', () => {
  const links = pages.flatMap(page => linksOf(page).map(target => ({ page, target })))

  expect(links.length).toBeGreaterThan(20)
  expect(links.filter(({ target }) => !existsSync(join(root, target)))).toEqual([])
})

test('every link to a section has an existing heading', () => {
  const links = pages.flatMap(page =>
    sectionLinksOf(page).map(({ target, anchor }) => ({ page, target, anchor })),
  )

  expect(links.length).toBeGreaterThan(20)
  expect(links.filter(({ target, anchor }) => !anchorsOf(target).includes(anchor))).toEqual([])
})

test('every section that a message of a command names is in its page', () => {
  const commands = globSync('src/cli/commands/**/*.ts', { cwd: root }).map(textOf).join('')
  const named = [
    ...[...commands.matchAll(/See "([^"$]+)" in (docs\/\S+\.md)/g)].map(([, section, page]) => ({
      section,
      page,
    })),
    ...[...commands.matchAll(/section: '([^']+)'/g)].map(([, section]) => ({
      section,
      page: 'docs/books.md',
    })),
  ]

  expect(named.length).toBeGreaterThan(3)
  expect(named.filter(({ section, page }) => !textOf(page ?? '').includes(`\n## ${section}\n`))).toEqual([])
})

test('the README links to every page of the docs', () => {
  const linked = linksOf('README.md')

  expect(
    globSync(['docs/*.md', 'docs/tasks/*.md'], { cwd: root }).filter(page => !linked.includes(page)),
  ).toEqual([])
})

test.each(pages)('%s has at most 120 columns outside of code blocks', page => {
  const prose = textOf(page).replaceAll(/^```[^]*?^```/gm, '')
  // A row of a table cannot be broken, and the table of the settings has sentences.
  const isLong = (line: string) =>
    line.length > COLUMNS_MAX && !(page === 'docs/settings.md' && line.startsWith('|'))

  expect(prose.split('\n').filter(isLong)).toEqual([])
})

test('no comment in the code has more than 120 columns', () => {
  const paths = globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root })
  const isLong = (line: string) => line.length > COLUMNS_MAX && /^\s*(?:\/\/|\/?\*)/.test(line)

  const long = paths.flatMap(path =>
    textOf(path)
      .split('\n')
      .filter(isLong)
      .map(line => `${path}: ${line}`),
  )

  expect(paths.length).toBeGreaterThan(1000)
  expect(long).toEqual([])
})

test.each(globSync(['src/**/*.md', 'test/**/*.md'], { cwd: root }))('%s has at most 120 columns', page => {
  const lines = textOf(page).split('\n')

  // A row of a table cannot be broken.
  expect(lines.filter(line => line.length > COLUMNS_MAX && !line.startsWith('|'))).toEqual([])
})

test('every file that the pages about the code name exists', () => {
  const named = ['docs/architecture.md', ...globSync('docs/decisions/*.md', { cwd: root })].flatMap(page =>
    [...textOf(page).matchAll(/[\w./-]+\.(?:ts|sql|mjs|sh)\b/g)].map(([path]) => ({ page, path })),
  )
  const scenarios = globSync('test/scenarios/*/', { cwd: root })
  const places = ['.', 'src', 'src/gateway/text', 'src/gateway/text/streams', 'src/protocol', ...scenarios]

  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(({ path }) => !places.some(place => existsSync(join(root, place, path))))).toEqual([])
})

/** The items of the list of files that a chat request passes, with the calls that each names and where they lead. */
function stepsOfChatRequest() {
  const [list = ''] = /^1\. [^]*?(?=\n\n)/m.exec(textOf('docs/architecture.md')) ?? []
  return list.split(/^(?=\d+\. )/m).map((item, index) => ({
    number: index + 1,
    file: /`([\w./-]+\.ts)`/.exec(item)?.[1] ?? item,
    calls: [...item.matchAll(/`([\w.]+)\(\)`(?:\s+\((\d+)\))?/g)].map(([, call = '', to]) => ({
      call,
      to: Number(to),
    })),
  }))
}

test('a chat request passes at most 16 files, each called by one before it', () => {
  const steps = stepsOfChatRequest()
  const ledTo = (number: number) =>
    steps.slice(0, number - 1).some(({ calls }) => calls.some(({ to }) => to === number))

  expect(steps.length).toBeGreaterThan(10)
  expect(steps.length).toBeLessThanOrEqual(16)
  expect(steps.filter(({ number }) => number > 1 && !ledTo(number))).toEqual([])
})

test.each(stepsOfChatRequest())(
  '$file makes the calls that docs/architecture.md names',
  ({ file, calls }) => {
    const code = textOf(`src/${file}`)

    expect(calls.filter(({ call }) => !code.includes(`${call}(`))).toEqual([])
  },
)

test.each(['nginx.conf', 'Caddyfile'])('docs/install.md shows deploy/%s', file => {
  expect(textOf('docs/install.md')).toContain(`\n${textOf(`deploy/${file}`)}\`\`\`\n`)
})
