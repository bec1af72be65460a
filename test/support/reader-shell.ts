import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { spawn } from 'bun'
import { ADMIN_KEY, type TestGateway } from './gateway.ts'
import { placeOf, root, type Snippet } from './snippets.ts'

/** The month in which the commands of the pages are run, by their dates. */
const WRITTEN_AT_MS = Date.UTC(2026, 10)

/** What the pages write for the address of the gateway and for the key of a customer. */
const ADDRESS = 'http://127.0.0.1:8787'
const KEY = 'tg_live_…'

/** What a reader of a page has: a gateway, a key of a customer, and files in the current folder. */
export type Reader = {
  readonly gateway: Pick<TestGateway, 'url' | 'dataDir'>
  readonly key: string
  /** The texts of files, by their names in the current folder. */
  readonly files?: Readonly<Record<string, string>>
  /** What the page shortens, such as `req_…`, with what the reader writes there. */
  readonly shortened?: Readonly<Record<string, string>>
}

/** A folder as a reader has it after the quick start: with `bin/tollgate`, `deploy`, `data` and `node_modules`. */
export type ReaderShell = {
  /**
   * Runs the `sh` snippets of a page in order in one shell, as a reader would. Stops at the first command that fails,
   * and then throws with its output. Returns the standard output of each snippet.
   */
  sh(snippets: readonly Snippet[]): Promise<readonly string[]>
  /** Runs a snippet of JavaScript as a module. Throws if it fails. Returns its standard output. */
  js(snippet: Snippet): Promise<string>
  /** Removes the folder. */
  close(): void
}

export function openReaderShell({ gateway, key, files = {}, shortened = {} }: Reader): ReaderShell {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-reader-'))
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  write('bin/tollgate', `#!/bin/sh\nexec '${process.execPath}' '${root}/src/cli.ts' "$@"\n`)
  chmodSync(join(folder, 'bin/tollgate'), 0o755)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'))
  symlinkSync(gateway.dataDir, join(folder, 'data'))
  write('data/admin.key', `${ADMIN_KEY}\n`)
  for (const [name, text] of Object.entries(files)) write(name, text)

  const written = Object.entries({ [ADDRESS]: gateway.url, [KEY]: key, ...shortened })
  const asReader = (text: string) =>
    written.reduce((sum, [shown, meant]) => sum.replaceAll(shown, meant), text)
  const run = async (cmd: readonly string[], places: string): Promise<string> => {
    const env = { PATH: process.env['PATH'], GATEWAY_URL: gateway.url, TOLLGATE_DATA_DIR: gateway.dataDir }
    const child = spawn([...cmd], { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0) throw new Error(`A command of ${places} exited with ${code}:\n${err}${out}`)
    return out
  }
  return {
    async sh(snippets) {
      // Shells print this between the outputs. No command prints it.
      const end = `${crypto.randomUUID()}\n`
      const parts = snippets.map(
        ({ text }) => `${inThisMonth(asReader(text))}\nprintf '%s\\n' '${end.trim()}'\n`,
      )
      const output = await run(['sh', '-euc', parts.join('')], snippets.map(placeOf).join(', '))
      return output.split(end).slice(0, snippets.length)
    },
    async js(snippet) {
      write('snippet.mjs', asReader(snippet.text))
      return run([process.execPath, join(folder, 'snippet.mjs')], placeOf(snippet))
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Moves the dates of commands to the current month, and those of other months with them. A date within a name, such as
 * that of a model, stays.
 */
function inThisMonth(text: string): string {
  const months = monthOf(Date.now()) - monthOf(WRITTEN_AT_MS)
  return text.replaceAll(/(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?!\d)/g, (_, year, month, day) => {
    const index = Number(month) - 1 + months
    // Day 0 is the last one of the month before.
    const lastDay = new Date(Date.UTC(Number(year), index + 1, 0)).getUTCDate()
    return new Date(Date.UTC(Number(year), index, Math.min(Number(day), lastDay))).toISOString().slice(0, 10)
  })
}

/** The number of months since the year 0. */
function monthOf(atMs: number): number {
  const date = new Date(atMs)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}
