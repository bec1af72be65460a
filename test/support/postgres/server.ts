import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isRoot, untilInputCloses } from '../child-program.ts'
import { aDataFolder, aMemoryFolder } from '../data-folder.ts'
import { freePort } from '../free-port.ts'
import { postgresPrograms, type Major } from './programs.ts'

/** PostgreSQL refuses to run as root. This user owns nothing. */
const NOBODY = 65_534
/** Another program can take the free port before the server listens on it. */
const START_TRIES = 5
/** For the message of a server that does not start. */
const LOG_LINES_KEPT = 20
const READY = 'database system is ready to accept connections'

/** A small server. Its durability is that of production, because the store asks for it. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '32MB',
  jit: 'off',
} as const

/** A PostgreSQL server that ends with the process that started it. */
export class PostgresServer {
  readonly major: Major
  readonly #run: ServerFiles & { readonly port: number }
  #process: ChildProcess

  private constructor(major: Major, run: ServerFiles & { readonly port: number }, process: ChildProcess) {
    this.major = major
    this.#run = run
    this.#process = process
  }

  /**
   * A new server without databases, on a free port of the loopback interface. In memory, a new database takes a seventh
   * of the time: most of it goes into making files on the disk.
   */
  static async start(major: Major, place: 'disk' | 'memory' = 'disk'): Promise<PostgresServer> {
    const files = makeFiles(await postgresPrograms(major), place === 'disk' ? aDataFolder() : aMemoryFolder())
    for (let tries = 1; ; tries += 1) {
      const run = { ...files, port: await freePort() }
      try {
        return new PostgresServer(major, run, await startProcess(run))
      } catch (error) {
        if (tries === START_TRIES) throw error
      }
    }
  }

  /** The URL of one of its databases, for the user that owns it. */
  url(database: string): string {
    return `postgres://postgres:${this.#run.password}@127.0.0.1:${this.#run.port}/${database}`
  }

  /** Ends all its processes at once, as a crash does: nothing that waits to be written is written. */
  async crash(): Promise<void> {
    const ended = endOf(this.#process)
    this.#process.stdin?.end()
    await ended
  }

  /** Starts it again after a crash, with the same port and data. */
  async restart(): Promise<void> {
    this.#process = await startProcess(this.#run)
  }

  /** Writes files into the folder of its data that only its user can read. */
  addFiles(files: Readonly<Record<string, Uint8Array>>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.#run.data, name)
      writeFileSync(path, content, { mode: 0o600 })
      if (isRoot()) chownSync(path, NOBODY, NOBODY)
    }
  }

  /** Copies the data of a server that crashed. The function that it returns puts the copy in place of later data. */
  copyData(): () => void {
    const { data } = this.#run
    const copy = `${data}-copy`
    runToEnd('cp', ['-a', data, copy])
    return () => {
      rmSync(data, { recursive: true })
      renameSync(copy, data)
    }
  }
}

type ServerFiles = { readonly programs: string; readonly data: string; readonly password: string }

/** A folder for the data, and the programs where the user of the server can read them. */
function makeFiles(cached: string, dataFolder: string): ServerFiles {
  const folder = aDataFolder()
  const password = crypto.randomUUID()
  const [data, passwordFile] = [join(dataFolder, 'data'), join(folder, 'password')]
  mkdirSync(data)
  writeFileSync(passwordFile, password)
  let programs = cached
  if (isRoot()) {
    // Only root can read the cache in its home folder. Links cost no time and no space, but need one file system.
    programs = join(folder, 'programs')
    if (spawnSync('cp', ['-al', cached, programs]).status !== 0)
      runToEnd('cp', ['-a', `${cached}/.`, programs])
    for (const path of [folder, dataFolder]) chmodSync(path, 0o755)
    for (const path of [data, passwordFile]) chownSync(path, NOBODY, NOBODY)
  }
  const options = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
  const locale = ['--encoding=UTF8', '--no-locale']
  runToEnd(join(programs, 'bin/initdb'), ['-D', data, '--no-sync', ...options, ...locale])
  return { programs, data, password }
}

function startProcess({
  programs,
  data,
  port,
}: ServerFiles & { readonly port: number }): Promise<ChildProcess> {
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const server = [join(programs, 'bin/postgres'), '-D', data, ...settings]
  const [shell = '', ...command] = untilInputCloses(server, 'QUIT')
  const child = spawn(shell, command, {
    ...asServer(),
    stdio: ['pipe', 'ignore', 'pipe'],
    // Ctrl-C is for the test run alone.
    detached: true,
  })
  child.unref()
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>()
  const log: string[] = []
  createInterface(child.stderr).on('line', line => {
    log.push(line)
    if (log.length > LOG_LINES_KEPT) log.shift()
    if (line.endsWith(READY)) resolve(child)
  })
  child.on('exit', () => {
    child.stdin.destroy()
    reject(new Error(`PostgreSQL did not start: ${log.join('\n')}`))
  })
  return promise
}

function runToEnd(command: string, options: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, options, { ...asServer(command), encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} exited with ${status}: ${stderr}`, { cause: error })
}

/** The user of the server, and no settings of another one from the environment. */
function asServer(command = '') {
  const env = { PATH: process.env['PATH'] ?? '' }
  return isRoot() && command !== 'cp' ? { env, uid: NOBODY, gid: NOBODY, cwd: '/' } : { env }
}

function endOf(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => child.on('exit', resolve))
}
