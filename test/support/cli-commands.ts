import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { main } from '../../src/cli/main.ts'
import { aDataFolder } from './data-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CLI = join(ROOT, 'src/cli.ts')

/** A catalog file. No server listens at the address of its provider. */
export const CATALOG = `
providers:
  - { id: main, kind: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-literal-secret' }
models:
  - id: meta/x
    kind: chat
    upstreams: [{ provider: main, model: x-1 }]
    pricing: { input_per_mtok: '1', output_per_mtok: '2' }
    max_output_tokens: 100
`

/** A start of this working copy leaves books here, which other starts report. */
const OWN_DATA = join(ROOT, 'data')
export const ownBooks = existsSync(join(OWN_DATA, 'tollgate.db')) ? [OWN_DATA] : []

type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** The lines as a command prints them. */
export function linesOf(...lines: readonly string[]): string {
  return lines.map(line => `${line}\n`).join('')
}

/** Runs one command in this process. */
export async function tollgate(
  args: readonly string[],
  settings: Record<string, string> = {},
  confirm?: (question: string) => Promise<boolean>,
): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await main(args, {
    version: '0.0.0',
    environment: settings,
    loadApp: () => import('../../src/app.ts'),
    out: text => (out += text),
    err: text => (err += text),
    confirm,
  })
  return { code, out, err }
}

/** Runs one command in its own process. */
export async function spawned(
  args: readonly string[],
  settings: Record<string, string> = {},
  cwd = aDataFolder(),
): Promise<Ran> {
  const child = spawn(args, settings, cwd)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

/** Resolves when the server has written its address. */
export async function startServer(
  dataDir: string,
  options: readonly string[] = [],
): Promise<ReturnType<typeof spawn>> {
  const child = spawn(['serve', ...options], { TOLLGATE_DATA_DIR: dataDir, TOLLGATE_PORT: '0' })
  while (!existsSync(join(dataDir, 'server.json'))) {
    if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text())
    await Bun.sleep(5)
  }
  return child
}

export function spawn(args: readonly string[], settings: Record<string, string>, cwd = aDataFolder()) {
  return Bun.spawn([process.execPath, CLI, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], BUN_CONFIG_MAX_HTTP_REQUESTS: '1024', ...settings },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}
