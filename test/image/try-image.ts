/**
 * try-image.ts: carries out the Dockerfile without an image registry, and makes the first requests to the container.
 * Each base image is replaced by a minimal Debian of the same release, made by debootstrap. Needs root on Debian, and
 * its packages and npm's.
 */
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { accepts, freePort } from '../../bench/processes.ts'
import { PROCESS_START_MS_MAX, until } from '../support/until.ts'
import { commandOf, parseDockerfile, type Instruction } from './dockerfile.ts'
import { apply, inRoot, makeDebian, rootFrom, run, type Root } from './root.ts'

const repository = resolve(import.meta.dirname, '../..')
const work = mkdtempSync(join(tmpdir(), 'tollgate-image-'))
try {
  const { root, instructions } = await build()
  const size = Bun.spawnSync(['du', '-sm', root.folder]).stdout.toString().split('\t')[0]
  console.log(`The image has ${size} MB.`)
  await tryOut(root, instructions)
  console.log('The container gave a paid answer, image and clip.')
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** The last stage of the Dockerfile. */
async function build(): Promise<{ readonly root: Root; readonly instructions: readonly Instruction[] }> {
  const context = join(work, 'context')
  mkdirSync(context)
  run(['sh', '-ec', 'git -C "$0" archive HEAD | tar -x -C "$1"', repository, context])
  const debian = await makeDebian(work, 'bookworm')
  const stages = new Map<string, Root>()
  const parsed = parseDockerfile(readFileSync(join(context, 'Dockerfile'), 'utf8'))
  for (const [index, { image, name, instructions }] of parsed.entries()) {
    const root = rootFrom(debian, image)
    for (const instruction of instructions) {
      console.log(`${instruction.name} ${instruction.text}`)
      apply(instruction, root, { context, stages })
    }
    stages.set(name ?? String(index), root)
    if (index === parsed.length - 1) return { root, instructions }
  }
  throw new Error('The Dockerfile has no stage.')
}

/**
 * Starts the container as compose.yaml does: with a read-only file system, a volume, and no more than its user's
 * rights.
 */
async function tryOut(root: Root, instructions: readonly Instruction[]): Promise<void> {
  const volume = join(work, 'volume')
  mkdirSync(volume, { mode: 0o700 })
  chownSync(volume, Number(root.user), Number(root.user))
  const port = String(freePort())
  const env = { ...root.variables, TOLLGATE_PORT: port }
  const last = (name: string) => commandOf(instructions.findLast(instruction => instruction.name === name)!)
  const inside = (command: readonly string[]) => [
    ...inRoot(root, command, { isReadOnly: true, writable: volume }),
  ]
  const container = Bun.spawn(inside([...last('ENTRYPOINT'), ...last('CMD')]), {
    env,
    stderr: 'pipe',
    stdout: 'ignore',
  })
  let printed = ''
  void (async () => {
    for await (const bytes of container.stderr) printed += new TextDecoder().decode(bytes)
  })()
  try {
    const isReady = async () => {
      if (container.exitCode !== null) throw new Error(printed)
      return /sandbox key/.test(printed) && (await accepts(Number(port)))
    }
    await until('the container accepts connections and prints its key', isReady, PROCESS_START_MS_MAX)
    const key = /sandbox key {2}(\S+)/.exec(printed)?.[1] ?? ''
    const address = { ...process.env, GATEWAY_URL: `http://127.0.0.1:${port}` }
    const script = join(repository, 'examples/first-requests.sh')
    run(['sh', '-ec', 'cd "$0" && exec "$@"', work, script, key], address)
    run(inside(last('HEALTHCHECK')), env)
    run(inside(last('HEALTHCHECK')), { ...env, HTTP_PROXY: 'http://127.0.0.1:1' })
    run(inside(['tollgate', 'balance', 'demo']), env)
  } finally {
    container.kill()
  }
  const exitCode = await container.exited
  if (exitCode !== 0) throw new Error(`The container ended with ${exitCode}: ${printed}`)
}
