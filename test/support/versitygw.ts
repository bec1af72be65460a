import { spawn } from 'bun'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { PROCESS_START_MS_MAX, until } from '../../src/http1/testing/until.ts'
import { aDataFolder } from './data-folder.ts'
import { defaultCache } from './debian-program.ts'
import { freePort } from './free-port.ts'

const KEYS = { accessKeyId: 'AKIATESTTESTTESTTEST', secretAccessKey: 'secret/of+the/tests' }
const BUCKET = 'results'
const REGION = 'eu-test-1'
const VERSION = 'v1.8.0'
const MODULE = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`

/**
 * The S3 server of Versity, which keeps objects as files: the installed one, or one that `go install` makes, once for
 * all copies of the repository. Undefined if there is none; its tests are then skipped, and a line says why. With
 * `TEST_SERVERS=required` it throws instead.
 */
export const versitygwPath: string | undefined = await versitygwProgram().catch((error: unknown) => {
  if (process.env['TEST_SERVERS'] === 'required') throw error
  process.stderr.write(`The tests of a real S3 server are skipped. ${String(error)}\n`)
  return undefined
})

async function versitygwProgram(cache = defaultCache()): Promise<string> {
  const folders = [process.env['PATH'] ?? '', join(homedir(), 'go/bin')]
  const installed = Bun.which('versitygw', { PATH: folders.join(delimiter) })
  if (installed !== null) return installed
  const program = join(cache, `versitygw-${VERSION}`, 'versitygw')
  if (existsSync(program)) return program
  try {
    await makeProgram(cache, dirname(program))
  } catch (cause) {
    throw new Error(
      `versitygw ${VERSION} could not be made. Install Go, and run the tests with access to its proxy.`,
      {
        cause,
      },
    )
  }
  return program
}

/** Works in a folder of its own and renames it, so that an interrupted run leaves no half program. */
async function makeProgram(cache: string, folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetching-'))
  try {
    const bin = join(work, 'bin')
    // The sources of the packages take 400 MB and are not needed afterwards.
    const env = { ...process.env, GOBIN: bin, GOMODCACHE: join(work, 'modules'), GOFLAGS: '-modcacherw' }
    const child = spawn(['go', 'install', MODULE], { cwd: work, env, stdout: 'ignore', stderr: 'pipe' })
    const [problems, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (code !== 0) throw new Error(`go install exited with ${code}: ${problems}`)
    try {
      renameSync(bin, folder)
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Starts the server on a free port with an empty bucket. */
export async function startVersitygw(path: string) {
  const folder = aDataFolder()
  mkdirSync(join(folder, BUCKET))
  const port = await freePort()
  const server = spawn({
    cmd: [path, '--port', `127.0.0.1:${port}`, '--region', REGION, 'posix', folder],
    env: { ROOT_ACCESS_KEY: KEYS.accessKeyId, ROOT_SECRET_KEY: KEYS.secretAccessKey },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const endpoint = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(endpoint).then(
      () => true,
      () => false,
    )
  await until('the S3 server answers', answers, PROCESS_START_MS_MAX)
  return {
    settings: { bucket: BUCKET, region: REGION, endpoint, ...KEYS, isPathStyle: true },
    async stop() {
      server.kill()
      await server.exited
      rmSync(folder, { recursive: true })
    },
  }
}
