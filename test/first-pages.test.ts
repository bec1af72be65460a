import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { parseCatalogFile } from '../src/catalog-file/catalog-file.ts'
import { startTestGateway, type TestGateway } from './support/gateway.ts'
import { openReaderShell, type ReaderShell } from './support/reader-shell.ts'
import { snippetsOf, type Snippet } from './support/snippets.ts'

let folder: string
let gateway: TestGateway | undefined
let shell: ReaderShell | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-first-pages-'))
})
afterEach(async () => {
  shell?.close()
  await gateway?.stop()
  shell = undefined
  gateway = undefined
  rmSync(folder, { recursive: true, force: true })
})

const inLanguage = (page: string, language: string) =>
  snippetsOf(page).filter(snippet => snippet.language === language)

/** What a reader of the page has: a gateway with the sandbox, a key, and the catalog that the page shows. */
async function readerOf(page: string): Promise<{ readonly key: string; readonly shell: ReaderShell }> {
  const [catalog] = inLanguage(page, 'yaml')
  gateway = await startTestGateway()
  const { key } = await gateway.account()
  shell = openReaderShell({ gateway, key, files: { 'catalog.yaml': catalog?.text ?? '' } })
  return { key, shell }
}

function withText(snippet: Snippet, text: string): Snippet {
  return { ...snippet, text }
}

/** The commands of a page without the start of the gateway, and with this folder in place of that for backups. */
function commandsOf(page: string): readonly Snippet[] {
  return inLanguage(page, 'sh')
    .filter(({ text }) => text !== 'npm start\n')
    .map(snippet => withText(snippet, snippet.text.replaceAll('/var/backups/tollgate', folder)))
}

test.each(['README.md', 'docs/operating.md'])(
  'every code block of %s is run, parsed, or marked as text or as a configuration that a test tries',
  page => {
    const tried = page === 'README.md' ? [] : ['nginx', 'caddyfile']
    const known = new Set(['sh', 'js', 'yaml', 'text', ...tried])

    expect(
      snippetsOf(page)
        .map(({ language }) => language)
        .filter(language => !known.has(language)),
    ).toEqual([])
    for (const { text } of inLanguage(page, 'yaml'))
      expect(parseCatalogFile(text)).toMatchObject({ ok: true })
  },
)

test('the commands of the README give a first paid answer, image and clip, and a new account', async () => {
  const { key, shell } = await readerOf('README.md')
  const files = 'printf \'%s\\n\' "$(head -c 8 fox.png | tail -c 7)" "$(head -c 12 fox.mp4 | tail -c 8)"\n'
  const commands = commandsOf('README.md').map(snippet =>
    snippet.text.includes('fox.mp4') ? withText(snippet, snippet.text + files) : snippet,
  )

  const program = await Promise.all(inLanguage('README.md', 'js').map(snippet => shell.js(snippet)))
  const outputs = (await shell.sh(commands)).join('')

  expect(program).toEqual([expect.stringMatching(/^This is the sandbox.* 0\.\d+\n$/) as string])
  expect(outputs).toMatch(/"cost_usd":"0\.000385"/)
  expect(outputs).toContain('PNG\r\n')
  expect(outputs).toContain('ftyp')
  expect(outputs).toContain('"cost_usd":"0.04"')
  expect(outputs).toContain('"cost_usd":"0.25"')
  expect(outputs).not.toContain('"error":')
  expect(outputs).toContain('tg_live_')
  expect(outputs).not.toContain(key)
})

test('the commands of the operating page work, in order', async () => {
  const { shell } = await readerOf('docs/operating.md')

  const outputs = await shell.sh(commandsOf('docs/operating.md'))

  expect(outputs.join('')).toContain('tg_live_')
  expect(outputs.join('')).toContain('claude-x')
  expect(outputs.join('')).not.toContain('"error":')
})

test('the README starts the gateway with npm start, as the test of a clone does', () => {
  const [start] = inLanguage('README.md', 'sh')
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }

  expect(start?.text).toBe('npm start\n')
  expect(scripts['start']).toBe('exec bin/tollgate serve')
})
