import { spawn } from 'bun'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { until } from '../../src/http1/testing/until.ts'

const KEYS = { accessKeyId: 'AKIATESTTESTTESTTEST', secretAccessKey: 'secret/of+the/tests' }
const BUCKET = 'results'
const REGION = 'eu-test-1'

/**
 * The S3 server of Versity, which keeps objects as files. `go install
 * github.com/versity/versitygw/cmd/versitygw@v1.8.0` makes it. Undefined if it is neither in PATH nor in the folder of
 * Go programs.
 */
export const versitygwPath: string | undefined =
  Bun.which('versitygw', {
    PATH: [process.env['PATH'] ?? '', join(homedir(), 'go/bin')].join(delimiter),
  }) ?? undefined

/** Starts the server on a free port with an empty bucket. */
export async function startVersitygw(path: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-versitygw-'))
  mkdirSync(join(folder, BUCKET))
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  const server = spawn({
    cmd: [path, '--port', `127.0.0.1:${port}`, '--region', REGION, 'posix', folder],
    env: { ROOT_ACCESS_KEY: KEYS.accessKeyId, ROOT_SECRET_KEY: KEYS.secretAccessKey },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const endpoint = `http://127.0.0.1:${port}`
  await until('the S3 server answers', () =>
    fetch(endpoint).then(
      () => true,
      () => false,
    ),
  )
  return {
    settings: { bucket: BUCKET, region: REGION, endpoint, ...KEYS, isPathStyle: true },
    async stop() {
      server.kill()
      await server.exited
      rmSync(folder, { recursive: true })
    },
  }
}
