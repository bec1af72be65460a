import type { MediaKindEntry } from '../../src/providers/media/media-kind.ts'
import { mediaKindEntries } from '../../src/providers/media-kinds.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { literalSecret } from '../support/media-providers.ts'
import { groups, type Group } from './cases.ts'
import { observe } from './observe.ts'
import { subjects, type Subject } from './subjects.ts'

export const PAGE_PATH = new URL('../../docs/providers.md', import.meta.url)
export const COMMAND = 'sh scripts/bun.sh all test/provider-table/write.ts'

const COLUMNS_MAX = 120

const INTRODUCTION = [
  'The kinds of providers of images and videos, and what each adapter makes of what its provider can do. The tables are generated: each cell is the outcome of the adapter in front of a simulator of its API. A test fails if this page is not what the simulators give. To write it again:',
]

const SKIPPED = [
  'Webhooks of providers and cancelled jobs do not apply: Tollgate polls, registers no webhooks, and never cancels a job. A row has `–` where the provider cannot behave like that, for example because it answers a submit with the result.',
  'How to write the rows of each kind is in [catalog.md](catalog.md#image-and-video-providers-by-example). How to add a kind is in [adding-a-provider.md](adding-a-provider.md).',
]

/** The text of `docs/providers.md`. */
export async function providersPage(): Promise<string> {
  const sections = [
    '# Image and video providers',
    ...INTRODUCTION.map(wrapped),
    `\`\`\`sh\n${COMMAND}\n\`\`\``,
    ...SKIPPED.map(wrapped),
    '## Kinds',
    table(['kind', 'makes', 'default base_url', 'key', 'polls', 'recovery'], subjects.map(traitsOf)),
  ]
  for (const group of groups) sections.push(...(await sectionOf(group)))
  return `${sections.join('\n\n')}\n`
}

function traitsOf({ name, isSynchronous, open }: Subject): readonly string[] {
  const opened = open(fakeClock())
  const entries: Readonly<Record<string, MediaKindEntry>> = mediaKindEntries
  const { makes = [], rules = {} } = entries[opened.row.kind] ?? {}
  const { baseUrl, hasKeyPair = false, keyHeader = 'authorization' } = rules
  const provider = opened.provider({
    send: () => Promise.reject(new Error('not called')),
    clock: fakeClock(),
    secretOf: literalSecret,
  })
  return [
    name,
    makes.map(made => `${made}s`).join(', '),
    baseUrl === undefined ? 'none' : baseUrl.replace('https://', ''),
    hasKeyPair ? 'two keys' : keyHeader,
    isSynchronous ? 'never' : `${provider.pollEveryMsMin / 1000} s`,
    provider.recover === undefined ? 'no' : 'by our id',
  ]
}

async function sectionOf({ title, text, cases }: Group): Promise<readonly string[]> {
  const rows: string[][] = []
  for (const subject of subjects) {
    const cells = []
    for (const one of cases) cells.push(await observe(subject, one))
    rows.push([subject.name, ...cells])
  }
  return [`## ${title}`, wrapped(text), table(['kind', ...cases.map(one => one.title)], rows)]
}

/** A table as the formatter writes it: cells as wide as the widest of their column. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map(row => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const lines = [line(head), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)]
  const tooLong = lines.find(({ length }) => length > COLUMNS_MAX)
  if (tooLong !== undefined) throw new Error(`This line is too long for the page: ${tooLong}`)
  return lines.join('\n')
}

function wrapped(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + 1 + word.length > COLUMNS_MAX) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join('\n')
}
