import { SQL } from 'bun'
import { readFileSync } from 'node:fs'
import type { DatabaseServer } from '../../../gateway/ports/nodes/database-server.ts'

/** The oldest major version that the store runs on. */
const MAJOR_MIN = 15
/** A database that does not answer in this time counts as lost. */
const CONNECT_TIMEOUT_S = 3
/** Reads of one node at once. Writes have a connection of their own. */
const READ_CONNECTIONS = 4

/** The connections of one node. */
export type Connections = {
  /** A pool for reads, which may run at once. */
  readonly openReads: () => SQL
  /** Opens a connection. A lost one is replaced by another. Calls `onClosed` for each that is lost or closed. */
  readonly connect: (onClosed?: () => void) => SQL
}

/** How the client of the runtime connects. */
type ClientOptions = {
  readonly url: string
  readonly tls?: { readonly ca: string }
  readonly prepare?: false
}

/**
 * The options of the client for a database. Throws an Error for the operator if the file of the certificate authority
 * cannot be read.
 */
export function clientOptions(server: DatabaseServer): ClientOptions {
  const { host, port, user, password, database, tls, rootCertificate, isPooled } = server
  const [login, secret] = [user, password ?? ''].map(encodeURIComponent)
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return {
    // The mode must be in the URL: with the other options alone, the client goes on without TLS if the server has none.
    url: `postgres://${login}:${secret}@${place}/${encodeURIComponent(database)}?sslmode=${tls}`,
    ...(rootCertificate !== undefined && { tls: { ca: readCertificate(rootCertificate) } }),
    // A statement that is prepared belongs to a session, and a pooler gives each transaction another one.
    ...(isPooled && { prepare: false }),
  }
}

/** Integers of 64 bits are read as bigint, and nothing depends on the state of a connection. */
export function connections(client: ClientOptions): Connections {
  const options = { ...client, bigint: true, connectionTimeout: CONNECT_TIMEOUT_S }
  return {
    openReads: () => new SQL({ ...options, max: READ_CONNECTIONS }),
    connect: onClosed => new SQL({ ...options, max: 1, ...(onClosed && { onclose: () => onClosed() }) }),
  }
}

/** Throws an Error for the operator if the database would lose acknowledged writes, or is too old. */
export async function requireSafeDatabase(sql: SQL): Promise<void> {
  const [settings] = await sql<ServerSettings[]>`
    SELECT current_setting('server_version_num')::integer / 10000 AS major, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('server_encoding') AS encoding`
  const problem = settings && problemOf(settings)
  if (problem !== undefined) throw new Error(problem)
}

type ServerSettings = {
  readonly major: number
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly encoding: string
}

function problemOf(settings: ServerSettings): string | undefined {
  const { major, encoding, synchronous_commit: commit } = settings
  if (major < MAJOR_MIN) return `The database is PostgreSQL ${major}. Use version ${MAJOR_MIN} or later.`
  if (encoding !== 'UTF8') return `The encoding of the database is ${encoding}. Create it with UTF8.`
  for (const name of ['fsync', 'full_page_writes'] as const)
    if (settings[name] !== 'on') return `The database has ${name} = off and would lose charges. Set it to on.`
  return ['on', 'remote_write', 'remote_apply'].includes(commit)
    ? undefined
    : `The database has synchronous_commit = ${commit} and would lose charges. Set it to on, remote_write or remote_apply.`
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`The file ${path} of "sslrootcert" in TOLLGATE_DATABASE_URL cannot be read.`, { cause })
  }
}
