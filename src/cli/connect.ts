import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { exchange, type Message, readAdminKey, readServerFile, type RunningServer } from './running-server.ts'
import { CliError } from './outcome.ts'

/** The admin API of a running server or of an opened data folder. */
export type Admin = {
  /** Where the books are: the data folder, or the database. */
  readonly books: string
  /** A sentence about the books that this command created. Undefined if the folder had books. */
  readonly created: string | undefined
  /** The address of the running server, for `doctor`. Undefined if this process opened the data folder. */
  readonly url: string | undefined
  send(path: string, message: Message & { readonly timeoutMs?: number }): Promise<Response>
  close(): Promise<void>
}

/** Opens the data folder in this process. Throws `DataFolderInUseError` while a server uses the folder. */
export type OpenAdmin = (config: Config) => Promise<{
  handle(request: Request): Promise<Response>
  close(): Promise<void>
  readonly created: string | undefined
}>

/** The code of the error of a data folder without books. */
export const NO_DATA_FOLDER = 'no_data_folder'

/** Long enough for a busy server. A connection to a stopped one is refused immediately. */
const LIVENESS_TIMEOUT_MS = 2000
/** Enough for a busy server. Nobody waits longer at a terminal for a server that has stopped answering. */
const SEND_TIMEOUT_MS = 60_000

type ConnectOptions = {
  readonly openAdmin: OpenAdmin
  readonly mayCreate: boolean
  /** The operator's limit for each request to a running server. Without it, each command has its own. */
  readonly timeoutMs: number | undefined
}

/**
 * Connects to the server that runs on the data folder or, if there is none, opens the folder or the database of the
 * settings. A folder without books is an error unless `mayCreate` is set: the path is probably mistyped, or the working
 * directory is wrong.
 */
export async function connect(
  config: Config,
  { openAdmin, mayCreate, timeoutMs }: ConnectOptions,
): Promise<Admin> {
  if (config.database === undefined && !mayCreate && !hasBooks(config.dataDir)) {
    throw new CliError(
      `There is no data folder at ${resolve(config.dataDir)}. Start the gateway once with "tollgate serve", or set TOLLGATE_DATA_DIR.`,
      { exitCode: 1, code: NO_DATA_FOLDER },
    )
  }
  const server = readServerFile(config.dataDir)
  if (server !== undefined && (await answers(server))) return overHttp(server, config, timeoutMs)
  try {
    return await inProcess(config, openAdmin)
  } catch (error) {
    if (!(error instanceof Error && error.name === 'DataFolderInUseError')) throw error
    // The lock shows that a server runs, even if its process is in another container and not visible here.
    if (server !== undefined) return overHttp(server, config, timeoutMs)
    throw new CliError(error.message, { exitCode: 1, code: 'data_folder_in_use' })
  }
}

/**
 * Also true while a restore is unfinished: the start then says so. Throws if the folder cannot be read: then nothing is
 * known about its books.
 */
function hasBooks(dataDir: string): boolean {
  return ['tollgate.db', 'restore.ready'].some(
    name => statSync(join(dataDir, name), { throwIfNoEntry: false }) !== undefined,
  )
}

/**
 * Contacts only a live process. At the address of a dead server, another program could listen and get the admin key.
 */
async function answers({ url, pid }: RunningServer): Promise<boolean> {
  if (!isAlive(pid)) return false
  try {
    const health = new URL('/health/live', reachable(url))
    return (await exchange(health, { method: 'GET' }, LIVENESS_TIMEOUT_MS)).ok
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // The process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function overHttp({ url }: RunningServer, config: Config, limitMs: number | undefined): Admin {
  const key = config.adminKey ?? readAdminKey(config.dataDir)
  if (key === undefined) {
    throw new CliError(
      `A server at ${url} uses this data folder. Set TOLLGATE_ADMIN_KEY to the admin key that it was started with.`,
      { exitCode: 1, code: 'no_admin_key' },
    )
  }
  return {
    url,
    books: booksOf(config),
    created: undefined,
    async send(path, message) {
      const headers = { ...message.headers, authorization: `Bearer ${key}` }
      const timeoutMs = limitMs ?? message.timeoutMs ?? SEND_TIMEOUT_MS
      try {
        return await exchange(new URL(path, reachable(url)), { ...message, headers }, timeoutMs)
      } catch (cause) {
        const isLate = cause instanceof Error && cause.name === 'AbortError'
        const late = `nothing within ${timeoutMs / 1000} s. It may be overloaded or stopped. --timeout SECONDS sets the limit.`
        const reason = isLate ? late : cause instanceof Error ? cause.message : String(cause)
        throw new CliError(`The server at ${url} did not answer: ${reason}`, {
          exitCode: 1,
          code: 'server_unreachable',
        })
      }
    },
    close: () => Promise.resolve(),
  }
}

async function inProcess(config: Config, openAdmin: OpenAdmin): Promise<Admin> {
  const opened = await openAdmin(config)
  return {
    url: undefined,
    books: booksOf(config),
    created: opened.created,
    send: (path, message) => opened.handle(new Request(new URL(path, 'http://localhost'), message)),
    close: () => opened.close(),
  }
}

function booksOf({ dataDir, database }: Config): string {
  if (database === undefined) return `Data folder: ${resolve(dataDir)}`
  return `Database: ${database.database} on ${database.host}, port ${database.port}`
}

/** Replaces an address that means all interfaces with the loopback address. */
function reachable(url: string): URL {
  const address = new URL(url)
  if (address.hostname === '0.0.0.0') address.hostname = '127.0.0.1'
  if (address.hostname === '[::]') address.hostname = '[::1]'
  return address
}
