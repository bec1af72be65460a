import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'bun:test'
import { parseCatalogFile } from '../src/catalog-file/catalog-file.ts'
import { startTestGateway, type TestGateway } from './support/gateway.ts'
import { openReaderShell, type ReaderShell } from './support/reader-shell.ts'
import { snippetsOf, type Snippet } from './support/snippets.ts'

let gateway: TestGateway | undefined
let shell: ReaderShell | undefined

afterEach(async () => {
  shell?.close()
  await gateway?.stop()
  shell = undefined
  gateway = undefined
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

/** The commands of a page without the start of the gateway. */
function commandsOf(page: string): readonly Snippet[] {
  return inLanguage(page, 'sh').filter(({ text }) => text !== 'npm start\n')
}

test('every code block of the README is run, parsed or marked as text', () => {
  const known = new Set(['sh', 'js', 'yaml', 'text'])

  expect(
    snippetsOf('README.md')
      .map(({ language }) => language)
      .filter(language => !known.has(language)),
  ).toEqual([])
  for (const { text } of inLanguage('README.md', 'yaml'))
    expect(parseCatalogFile(text)).toMatchObject({ ok: true })
})

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

test('the README starts the gateway with npm start, as the test of a clone does', () => {
  const [start] = inLanguage('README.md', 'sh')
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }

  expect(start?.text).toBe('npm start\n')
  expect(scripts['start']).toBe('exec bin/tollgate serve')
})
