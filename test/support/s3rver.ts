import { spawn } from 'bun'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROCESS_START_MS_MAX, until } from '../../src/http1/testing/until.ts'
import { aDataFolder } from './data-folder.ts'
import { defaultCache } from './debian-program.ts'
import { freePort } from './free-port.ts'

const VERSION = '3.7.1'
/** Its own dependencies have ranges of versions: those of this day are taken. */
const DEPENDENCIES_BEFORE = '2026-11-01'
/** The package has no other login. */
const LOGIN = 'S3RVER'
const BUCKET = 'results'
const REGION = 'us-east-1'

/**
 * The program of s3rver, which comes from npm, once for all copies of the repository. It is for machines that cannot
 * make versitygw. Undefined if it cannot be fetched; its tests are then skipped, and a line says why.
 */
export async function s3rverPath(cache = defaultCache()): Promise<string | undefined> {
  const folder = join(cache, `s3rver-${VERSION}`)
  try {
    if (!existsSync(folder)) await install(cache, folder)
  } catch (error) {
    process.stderr.write(`s3rver ${VERSION} could not be fetched from npm either. ${String(error)}\n`)
    return undefined
  }
  process.stderr.write(
    `A few of them run on s3rver ${VERSION} instead, which does not have all that the gateway needs.\n`,
  )
  return join(folder, 'node_modules/s3rver/bin/s3rver.js')
}

/** Works in a folder of its own and renames it, so that an interrupted run leaves no half package. */
async function install(cache: string, folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetching-'))
  try {
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--silent']
    const place = ['--prefix', work, '--before', DEPENDENCIES_BEFORE]
    const command = ['npm', 'install', ...quiet, ...place, `s3rver@${VERSION}`]
    const child = spawn(command, { cwd: work, stdout: 'ignore', stderr: 'pipe', stdin: 'ignore' })
    const [problems, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (code !== 0) throw new Error(`npm install exited with ${code}: ${problems}`)
    try {
      renameSync(work, folder)
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Starts the server on a free port with an empty bucket. Its lists are wrong unless Node.js runs it. */
export async function startS3rver(path: string) {
  const folder = aDataFolder()
  const port = await freePort()
  const place = ['--address', '127.0.0.1', '--port', String(port), '--directory', folder]
  const server = spawn({
    cmd: ['node', path, ...place, '--silent', '--configure-bucket', BUCKET],
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const endpoint = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(endpoint).then(
      () => true,
      () => false,
    )
  await until('s3rver answers', answers, PROCESS_START_MS_MAX)
  const keys = { accessKeyId: LOGIN, secretAccessKey: LOGIN }
  return {
    settings: { bucket: BUCKET, region: REGION, endpoint, ...keys, isPathStyle: true },
    async stop() {
      server.kill()
      await server.exited
      rmSync(folder, { recursive: true })
    },
  }
}
