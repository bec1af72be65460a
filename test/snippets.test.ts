import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseCatalogFile } from '../src/catalog-file/catalog-file.ts'
import type { ApiDocument } from '../src/http/description/document.ts'
import { wholeDocument } from './support/whole-document.ts'
import type { Schema } from '../src/http/description/schema.ts'
import { closedObjects, schemaCheck } from './support/described-reply.ts'
import { startTestGateway, type TestGateway } from './support/gateway.ts'
import { openReaderShell, type ReaderShell } from './support/reader-shell.ts'
import { placeOf, root, snippetsOf, type Snippet } from './support/snippets.ts'

/** Pages with commands for a checkout, which take minutes or write files. */
const ofCheckout = [
  'docs/adding-a-provider.md',
  'docs/benchmarks.md',
  'docs/hard-cases.md',
  'docs/providers.md',
  'docs/testing.md',
]
const pages = globSync(['docs/*.md', 'examples/*.md'], { cwd: root }).filter(
  page => !ofCheckout.includes(page),
)
const snippets = pages.flatMap(snippetsOf)
const inLanguage = (...languages: string[]) =>
  snippets
    .filter(({ language }) => languages.includes(language))
    .map(snippet => [placeOf(snippet), snippet] as const)

/** What snippets print whose purpose is a refusal. */
const refusals: Readonly<Record<string, RegExp>> = { 'fail=UNSAFE': /"code":"UNSAFE"/ }

/** Pages whose reader has imported the first catalog of another page. */
const catalogs: Readonly<Record<string, string>> = { 'docs/books.md': 'docs/catalog.md' }

let backups: string
let gateway: TestGateway | undefined
let shell: ReaderShell | undefined

beforeEach(() => {
  backups = mkdtempSync(join(tmpdir(), 'tollgate-backups-'))
})

afterEach(async () => {
  shell?.close()
  await gateway?.stop()
  shell = undefined
  gateway = undefined
  rmSync(backups, { recursive: true, force: true })
})

const withText = (snippet: Snippet, text: string): Snippet => ({ ...snippet, text })
const isYaml = ({ language }: Snippet) => language === 'yaml'

/** What the reader of a page has: a gateway with the sandbox, a key, and the catalog that the page shows. */
async function shellOf(page: string): Promise<ReaderShell> {
  const shown = snippetsOf(page).find(isYaml)
  const imported = catalogs[page]
  const catalog = imported === undefined ? undefined : snippetsOf(imported).find(isYaml)
  gateway = await startTestGateway(catalog === undefined ? {} : { catalog: catalog.text })
  const { key } = await gateway.account()
  return openReaderShell({ gateway, key, files: { 'catalog.yaml': shown?.text ?? '' } })
}

test('every code block of the pages is run, checked elsewhere, or marked as text or as a drawing', () => {
  const known = new Set(['sh', 'js', 'json', 'yaml', 'text', 'mermaid', 'nginx', 'caddyfile'])

  expect(snippets.length).toBeGreaterThan(20)
  expect(snippets.filter(({ language }) => !known.has(language)).map(placeOf)).toEqual([])
})

describe('the commands of a page work, in order, in one shell', () => {
  const withCommands = pages.filter(page => snippetsOf(page).some(({ language }) => language === 'sh'))

  test.each(withCommands)('the commands of a page work, in order, in one shell: %s', async page => {
    const commands = snippetsOf(page)
      .filter(({ language }) => language === 'sh')
      .map(snippet => withText(snippet, snippet.text.replaceAll('/var/backups/tollgate', backups)))
    shell = await shellOf(page)

    const outputs = await shell.sh(commands)

    for (const [index, { text }] of commands.entries()) {
      const refusal = Object.entries(refusals).find(([mark]) => text.includes(mark))?.[1]
      if (refusal === undefined) expect(outputs[index]).not.toContain('"error":')
      else expect(outputs[index]).toMatch(refusal)
    }
  })
})

test.each(ofCheckout)('the commands of %s name scripts and files that exist', page => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: object
  }
  const commands = snippetsOf(page).filter(({ language }) => language === 'sh')
  const words = commands.flatMap(({ text }) => text.split(/\s+/))
  const files = words.filter(word => /^[\w./-]+\.(?:ts|sh|mjs)$/.test(word))
  const npmScripts = commands.flatMap(({ text }) =>
    [...text.matchAll(/npm run (\w+)/g)].map(([, name = '']) => name),
  )

  expect(files.length + npmScripts.length).toBeGreaterThan(0)
  expect(files.filter(file => !existsSync(join(root, file)))).toEqual([])
  expect(npmScripts.filter(name => !(name in scripts))).toEqual([])
})

test.each(inLanguage('js'))('the program of %s runs', async (_, snippet) => {
  shell = await shellOf(snippet.page)

  expect(await shell.js(snippet)).not.toBe('')
})

describe('a reply that a page shows fits the OpenAPI document', () => {
  const document = closedObjects(wholeDocument()) as ApiDocument
  const problemIn = schemaCheck(document)
  const replies = Object.values(document.paths).flatMap(methods =>
    Object.values(methods).flatMap(({ responses }) =>
      Object.values(responses).map(reply => schemaOf(document, reply)),
    ),
  )
  /** Replies of providers pass through, and fit an open schema. */
  const isOpen = ({ $ref }: Schema) => String($ref).endsWith('Reply')
  const own = replies.filter(schema => schema !== undefined).filter(schema => !isOpen(schema))

  test.each(inLanguage('json'))('a reply that a page shows fits the OpenAPI document: %s', (_, { text }) => {
    const reply = JSON.parse(text) as object
    const isOfProvider = 'choices' in reply || 'stop_reason' in reply

    expect(isOfProvider || own.some(schema => problemIn(schema, reply) === undefined)).toBe(true)
  })
})

/** The schema of a reply's JSON; undefined if it has none. */
function schemaOf({ components }: ApiDocument, reply: unknown): Schema | undefined {
  const { $ref, content } = reply as { readonly $ref?: string; readonly content?: Contents }
  const found = $ref === undefined ? content : components.responses[$ref.split('/').at(-1) ?? '']?.content
  return found?.['application/json']?.schema
}

type Contents = Readonly<Record<string, { readonly schema: Schema }>>

test.each(inLanguage('yaml'))('the catalog of %s can be imported', (_, { text }) => {
  const parsed = parseCatalogFile(text)

  expect(parsed.ok ? [] : parsed.problems).toEqual([])
})
