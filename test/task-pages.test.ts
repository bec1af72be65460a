import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseCatalogFile } from '../src/catalog-file/catalog-file.ts'
import { startTestGateway, type TestGateway } from './support/gateway.ts'
import { farFromMidnight } from './support/far-from-midnight.ts'
import { openReaderShell, type ReaderShell } from './support/reader-shell.ts'
import { root, snippetsOf, type Snippet } from './support/snippets.ts'
import { startUpstream, type Upstream } from './support/upstream.ts'

const WORDS_MAX = 300
const OPENAI = 'https://api.openai.com/v1'
const METRICS_KEY = 'a-key-for-metrics'

/** What the commands of each task print, after the task is done. */
const outcomes: Readonly<Record<string, readonly RegExp[]>> = {
  'admin-tokens': [
    /"amount_usd":"5"/,
    /Credited 5 USD\./,
    /^# HELP /m,
    /bookkeeper.* active/,
    /Revoked bookkeeper/,
  ],
  'back-up-and-restore': [/monday\.db/, /The books balance\./, /ada +acct_/],
  'connect-clients': [/"id":"sandbox-chat"/],
  // test/console/first-customer.test.ts does what this page says.
  'first-customer-in-console': [],
  'first-customer': [/gpt-4o-mini +chat +on/, /"cost_usd":"0\.000006"/, /charge +-0\.000006/, /top_up +25/],
  https: [/200\n/],
  'leaked-key': [/tg_live_\w{4}… {2}key_/, /20 USD a month/, /Gave back 0\.\d+ USD/],
  'monthly-invoice': [/Charges: \d+\. Cost: /, /charge +-0\.\d+/, /Credited 25 USD\. ada has/],
  prometheus: [/^# HELP /],
  'set-prices': [/fixed-x +chat/, /markup-x +chat .* the cost of the provider × 1\.25/],
  upgrade: [/The books balance\./, /before-upgrade\.db/, /sandbox-chat +chat +on/],
  'watch-margins': [/sandbox-chat +1 +0\.\d+ +0 /, /^account,account_name,charges,revenue_usd,/m, /Margin: /],
  'why-charged-or-refused': [
    /req_\S+ +charged\n/,
    /^input +\d+ +2\.5 +1000000 +0\.\d+/m,
    /vid_\S+/,
    /charge +-0\.\d+ +req_/,
    /state +active/,
  ],
}

const pages = globSync('docs/tasks/*.md', { cwd: root }).toSorted()
const inLanguage = (page: string, language: string) =>
  snippetsOf(page).filter(snippet => snippet.language === language)
const withText = (snippet: Snippet, text: string): Snippet => ({ ...snippet, text })

let folder: string
let provider: Upstream
let gateway: TestGateway | undefined
let shell: ReaderShell | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-task-'))
  provider = startUpstream()
  process.env['OPENAI_API_KEY'] = 'sk-for-tests'
})

afterEach(async () => {
  delete process.env['OPENAI_API_KEY']
  shell?.close()
  await gateway?.stop()
  provider.close()
  shell = undefined
  gateway = undefined
  rmSync(folder, { recursive: true, force: true })
})

/** A reader who has the catalog of the page and, unless the page creates it, the account `ada` with two charges. */
async function shellOf(page: string): Promise<ReaderShell> {
  await farFromMidnight()
  const catalog = inLanguage(page, 'yaml')[0]?.text.replaceAll(OPENAI, provider.baseUrl) ?? ''
  gateway = await startTestGateway({ environment: { TOLLGATE_METRICS_KEY: METRICS_KEY } })
  const files = { 'catalog.yaml': catalog, 'tollgate-metrics.key': METRICS_KEY }
  if (inLanguage(page, 'sh').some(({ text }) => text.includes('accounts create ada')))
    return openReaderShell({ gateway, key: 'of nobody', files })
  const { id } = await gateway.admin<{ id: string }>('POST', 'accounts', { name: 'ada' })
  await gateway.admin('POST', `accounts/${id}/grants`, { amount_usd: '10' })
  const { key } = await gateway.admin<{ key: string }>('POST', `accounts/${id}/keys`, {})
  const chat = await gateway.chat(key, { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hi' }] })
  await chat.text()
  const video = await fetch(`${gateway.url}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-video', prompt: 'A red fox', seconds: 5 }),
  })
  const job = (await video.json()) as { readonly id: string }
  const shortened = { 'req_…': chat.headers.get('x-request-id') ?? '', 'vid_…': job.id }
  return openReaderShell({ gateway, key, files, shortened })
}

test('every task page has its outcome here', () => {
  expect(pages).toEqual(Object.keys(outcomes).map(name => `docs/tasks/${name}.md`))
})

describe.each(pages)('%s', page => {
  const source = readFileSync(join(root, page), 'utf8')

  test('the page has at most 300 words, with its commands', () => {
    expect(source.trim().split(/\s+/).length).toBeLessThanOrEqual(WORDS_MAX)
  })

  test('the page says what was tried, and has only blocks that are run, parsed or marked as text', () => {
    expect(source).toMatch(/^Tried: /m)
    expect(snippetsOf(page).map(({ language }) => language)).toSatisfy(languages =>
      languages.every(language => ['sh', 'js', 'yaml', 'text'].includes(language)),
    )
    for (const { text } of inLanguage(page, 'yaml'))
      expect(parseCatalogFile(text)).toMatchObject({ ok: true })
  })

  test('the page does its task with its commands, in order', async () => {
    const commands = inLanguage(page, 'sh').map(snippet =>
      withText(snippet, snippet.text.replaceAll('/var/backups/tollgate', folder)),
    )
    shell = await shellOf(page)

    const outputs = (await shell.sh(commands)).join('')

    expect(outputs).not.toContain('"error":')
    for (const outcome of outcomes[page.slice('docs/tasks/'.length, -'.md'.length)] ?? [])
      expect(outputs).toMatch(outcome)
  })
})

test.each(pages.flatMap(page => inLanguage(page, 'js')))('the program of $page runs', async snippet => {
  shell = await shellOf(snippet.page)

  expect(await shell.js(snippet)).toContain('This is the sandbox')
})
