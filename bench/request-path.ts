/**
 * Counts the files that one chat request enters, and how often it goes from one file to another. It instruments every
 * function of a copy of src/, starts a gateway from it, and sends requests to it:
 *
 * sh scripts/bun.sh all bench/request-path.ts [--files]
 *
 * `http1/` is not counted: it is a library. With `--files`, the files are listed in the order in which they are
 * entered.
 */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { startGatewayProcess } from '../test/support/gateway-process.ts'

const root = resolve(import.meta.dirname, '..')
/** The first requests also open connections, compile statements and fill caches. */
const WARM_UP = 5
/**
 * Periodic work, such as the write of the anchor, can run meanwhile. The request with the fewest calls is without it.
 */
const COUNTED = 5
const ENTER = 'globalThis.enterFile'
/** The copy writes the files that were entered since the last signal, one a line. */
const DUMP_SIGNAL = 'SIGUSR2'

const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-path-'))
try {
  const entered = await filesOfOneRequest(instrumentedCopy())
  const counted = entered.filter(file => !file.startsWith('http1/'))
  const changes = counted.filter((file, index) => index > 0 && file !== counted[index - 1]).length
  console.log(`files entered: ${new Set(counted).size}`)
  console.log(`changes of file: ${changes}`)
  if (process.argv.includes('--files')) console.log([...new Set(counted)].join('\n'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** A copy of the gateway whose functions say which file they are in. Returns the path of its entry point. */
function instrumentedCopy(): string {
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true })
  for (const name of ['package.json', 'docs', 'CHANGELOG.md'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const path of globSync('**/*.ts', { cwd: join(folder, 'src') })) {
    if (path.endsWith('.test.ts')) continue
    const file = join(folder, 'src', path)
    writeFileSync(file, instrumented(readFileSync(file, 'utf8'), path))
  }
  const recorder = join(folder, 'recorder.ts')
  writeFileSync(recorder, recorderSource())
  return recorder
}

function recorderSource(): string {
  return `import { writeFileSync } from 'node:fs'
let entered = []
globalThis.enterFile = file => void entered.push(file)
process.on('${DUMP_SIGNAL}', () => {
  writeFileSync(${JSON.stringify(join(folder, 'entered.txt'))}, entered.join('\\n'))
  entered = []
})
`
}

/** Calls the recorder at the start of every function. */
function instrumented(source: string, path: string): string {
  const insertions: { readonly at: number; readonly text: string }[] = []
  const call = `${ENTER}?.(${JSON.stringify(path)})`
  const enter = ({ body }: { readonly body?: unknown }) => {
    if (body === null || body === undefined) return
    const { type, start, end } = body as { type: string; start: number; end: number }
    if (type === 'BlockStatement' || type === 'FunctionBody')
      insertions.push({ at: start + 1, text: `${call};` })
    else insertions.push({ at: start, text: `(${call}, ` }, { at: end, text: ')' })
  }
  const visitor = new Visitor({
    FunctionDeclaration: enter,
    FunctionExpression: enter,
    ArrowFunctionExpression: enter,
  })
  visitor.visit(parseSync(path, source).program)
  let text = source
  for (const { at, text: inserted } of insertions.toSorted((left, right) => right.at - left.at))
    text = text.slice(0, at) + inserted + text.slice(at)
  return text
}

async function filesOfOneRequest(recorder: string): Promise<readonly string[]> {
  const upstream = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(ANSWER) })
  const catalog = join(folder, 'catalog.yaml')
  writeFileSync(catalog, catalogFor(`http://127.0.0.1:${upstream.port}/v1`))
  const gateway = await startGatewayProcess(
    join(folder, 'data'),
    { TOLLGATE_CATALOG: catalog },
    { command: [process.execPath, '--preload', recorder, join(folder, 'src/cli.ts'), 'serve'] },
  )
  try {
    const key = await customerKey(gateway)
    for (let sent = 0; sent < WARM_UP; sent += 1) await ask(gateway.url, key, sent)
    await dump(gateway.pid)
    let fewest: readonly string[] = []
    for (let sent = 0; sent < COUNTED; sent += 1) {
      await ask(gateway.url, key, WARM_UP + sent)
      const entered = (await dump(gateway.pid)).split('\n')
      if (sent === 0 || entered.length < fewest.length) fewest = entered
    }
    return fewest
  } finally {
    await gateway.stop()
    await upstream.stop(true)
  }
}

/** Waits until what the request left, such as its log line, is done. */
async function dump(pid: number): Promise<string> {
  const file = join(folder, 'entered.txt')
  rmSync(file, { force: true })
  await Bun.sleep(300)
  process.kill(pid, DUMP_SIGNAL)
  while (!(await Bun.file(file).exists())) await Bun.sleep(10)
  await Bun.sleep(50)
  return readFileSync(file, 'utf8')
}

async function customerKey({ url, adminKey }: { readonly url: string; readonly adminKey: string }) {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const reply = await fetch(`${url}/admin/api/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await reply.json()) as Readonly<Record<string, string>>
  }
  const { id } = await post('accounts', { name: 'path' })
  await post(`accounts/${id}/grants`, { amount_usd: '10' })
  return (await post(`accounts/${id}/keys`, {}))['key'] ?? ''
}

async function ask(url: string, key: string, number: number): Promise<void> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `Hello ${number}` }] }),
  })
  if (reply.status !== 200) throw new Error(`The gateway answered ${reply.status}: ${await reply.text()}`)
  await reply.arrayBuffer()
}

function catalogFor(baseUrl: string): string {
  return JSON.stringify({
    providers: [{ id: 'up', kind: 'openai-compatible', base_url: baseUrl, routes: ['chat'] }],
    models: [
      {
        id: 'm',
        kind: 'chat',
        upstreams: [{ provider: 'up', model: 'up' }],
        pricing: { input_per_mtok: '1', output_per_mtok: '2' },
        max_output_tokens: 100,
      },
    ],
  })
}
