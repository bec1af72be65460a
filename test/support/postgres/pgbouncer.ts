import { spawn, type Subprocess } from 'bun'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { isRoot, untilInputCloses } from '../child-program.ts'
import { Authority, type Certified } from '../certificates.ts'
import { aDataFolder } from '../data-folder.ts'
import { debianProgram, type Program } from '../debian-program.ts'
import { freePort } from '../free-port.ts'

/** PgBouncer refuses to run as root. This user owns nothing. */
const NOBODY = { name: 'nobody', id: 65_534 }
/** Another program can take the free port before the server listens on it. */
const START_TRIES = 5
/** Fewer than one gateway has, so that its transactions share them. */
export const SERVER_CONNECTIONS = 3

/**
 * The program, installed or of its Debian package. Undefined if there is none; its tests are then skipped, and a line
 * says why. With `TEST_SERVERS=required` it throws instead.
 */
export async function pgbouncerProgram(): Promise<Program | undefined> {
  try {
    return await debianProgram('pgbouncer')
  } catch (error) {
    if (process.env['TEST_SERVERS'] === 'required') throw error
    process.stderr.write(`The tests of PgBouncer are skipped. ${String(error)}\n`)
    return undefined
  }
}

/** A pooler in front of a PostgreSQL server, in transaction mode and with TLS for its clients. */
export class PgBouncer {
  readonly #port: number
  readonly #process: Subprocess<'pipe', 'ignore', 'pipe'>
  readonly #authority: Authority

  private constructor(port: number, process: Subprocess<'pipe', 'ignore', 'pipe'>, authority: Authority) {
    this.#port = port
    this.#process = process
    this.#authority = authority
  }

  /** Pools the connections to the database of a URL, for the user of that URL. */
  static async start(program: Program, url: string): Promise<PgBouncer> {
    const authority = new Authority('tests')
    const certified = authority.certify('localhost')
    for (let tries = 1; ; tries += 1) {
      const port = await freePort()
      try {
        const process = await startProcess(program, writeSettings(url, port, certified))
        return new PgBouncer(port, process, authority)
      } catch (error) {
        if (tries === START_TRIES) throw error
      }
    }
  }

  /** The value of `TOLLGATE_DATABASE_URL` for a URL of the server. The certificate of the pooler is checked. */
  url(of: string): string {
    const url = new URL(of)
    url.host = `localhost:${this.#port}`
    url.searchParams.set('sslmode', 'verify-full')
    url.searchParams.set('sslrootcert', this.#authority.certificateFile)
    url.searchParams.set('pgbouncer', 'true')
    return url.href
  }

  async stop(): Promise<void> {
    void this.#process.stdin.end()
    await this.#process.exited
  }
}

/** The path of the file with the settings, which the user of the pooler can read. */
function writeSettings(url: string, port: number, certified: Certified): string {
  const { hostname, port: serverPort, username, password, pathname } = new URL(url)
  const folder = aDataFolder()
  const file = (name: string) => join(folder, name)
  writeFileSync(file('server.pem'), certified.certificate)
  writeFileSync(file('server.key'), certified.key)
  writeFileSync(file('users.txt'), `"${username}" "${decodeURIComponent(password)}"\n`)
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: file('users.txt'),
    pool_mode: 'transaction',
    default_pool_size: SERVER_CONNECTIONS,
    client_tls_sslmode: 'require',
    client_tls_cert_file: file('server.pem'),
    client_tls_key_file: file('server.key'),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const databases = `${pathname.slice(1)} = host=${hostname} port=${serverPort}`
  writeFileSync(file('pgbouncer.ini'), `[databases]\n${databases}\n[pgbouncer]\n${lines.join('\n')}\n`)
  if (isRoot()) {
    chmodSync(folder, 0o755)
    for (const name of ['server.pem', 'server.key', 'users.txt', 'pgbouncer.ini'])
      chownSync(file(name), NOBODY.id, NOBODY.id)
  }
  return file('pgbouncer.ini')
}

async function startProcess({ path, environment }: Program, settings: string) {
  const user = isRoot() ? ['-u', NOBODY.name] : []
  const server = spawn({
    cmd: untilInputCloses([path, ...user, settings]),
    env: { ...process.env, ...environment },
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  server.unref()
  const log: string[] = []
  const { promise, resolve: started, reject } = Promise.withResolvers<typeof server>()
  createInterface(Readable.fromWeb(server.stderr as never)).on('line', line => {
    log.push(line)
    if (line.includes('process up')) started(server)
  })
  void server.exited.then(() => reject(new Error(`PgBouncer did not start: ${log.join('\n')}`)))
  return promise
}
