import { RedisClient, spawn, type Subprocess } from 'bun'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { untilInputCloses } from './child-program.ts'
import { PROCESS_START_MS_MAX, until } from '../../src/http1/testing/until.ts'
import { aDataFolder } from './data-folder.ts'
import { debianProgram, type Program } from './debian-program.ts'
import { freePort } from './free-port.ts'

/** Another program can take the free port before the server listens on it. */
const START_TRIES = 5

/**
 * The server program: Valkey or Redis if it is installed, else Redis of its Debian package. Undefined if there is none;
 * its tests are then skipped, and a line says why. With `TEST_SERVERS=required` it throws instead.
 */
export async function redisProgram(): Promise<Program | undefined> {
  const valkey = Bun.which('valkey-server')
  if (valkey !== null) return { path: valkey, environment: {} }
  try {
    return await debianProgram('redis-server')
  } catch (error) {
    if (process.env['TEST_SERVERS'] === 'required') throw error
    process.stderr.write(`The tests of Valkey and Redis are skipped. ${String(error)}\n`)
    return undefined
  }
}

/** A server on a free port of the loopback interface, with a password and without files. */
export class RedisServer {
  readonly port: number
  readonly password = crypto.randomUUID()
  readonly #program: Program
  #process: Subprocess<'pipe', 'ignore', 'ignore'> | undefined

  private constructor(program: Program, port: number) {
    this.#program = program
    this.port = port
  }

  static async start(program: Program): Promise<RedisServer> {
    for (let tries = 1; ; tries += 1) {
      const server = new RedisServer(program, await freePort())
      try {
        await server.restart()
        return server
      } catch (error) {
        if (tries === START_TRIES) throw error
      }
    }
  }

  /** The value of `TOLLGATE_REDIS_URL`. */
  get url(): string {
    return `redis://:${this.password}@127.0.0.1:${this.port}/1`
  }

  /** Another client of the same database, which knows the password and not the secret key. */
  async stranger(): Promise<RedisClient> {
    const client = new RedisClient(this.url, { autoReconnect: false })
    await client.connect()
    return client
  }

  /** Starts it, also after `kill`: on the same port, and without the values that it had. */
  async restart(): Promise<void> {
    const log = join(aDataFolder(), 'log')
    const settings = {
      port: this.port,
      bind: '127.0.0.1',
      requirepass: this.password,
      save: '',
      logfile: log,
    }
    const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    const server = spawn({
      cmd: untilInputCloses([this.#program.path, ...options]),
      env: { ...process.env, ...this.#program.environment },
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    server.unref()
    this.#process = server
    const isReady = () => {
      const lines = existsSync(log) ? readFileSync(log, 'utf8') : ''
      if (server.exitCode !== null) throw new Error(`The server did not start: ${lines}`)
      return lines.includes('Ready to accept connections')
    }
    await until('the server accepts connections', isReady, PROCESS_START_MS_MAX)
  }

  /** The server answers nothing, and the kernel still accepts connections for it. */
  freeze(): void {
    this.#process!.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process!.kill('SIGCONT')
  }

  /** Ends it at once, also if it is frozen. */
  async kill(): Promise<void> {
    void this.#process?.stdin.end()
    await this.#process?.exited
  }
}
