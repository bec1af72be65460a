import { SQL } from 'bun'

/** The oldest major version that the store runs on. */
const MAJOR_MIN = 15
/** A database that does not answer in this time counts as lost. */
const CONNECT_TIMEOUT_S = 3
/** Reads of one node at once. Writes have a connection of their own. */
const READ_CONNECTIONS = 4

/** The connections of one node. */
export type Connections = {
  /** For reads, which may run at once. */
  readonly reads: SQL
  /** Opens a connection for the batches of a lane. A lost one is replaced by another. */
  readonly connect: () => SQL
}

/** Integers of 64 bits are read as bigint, and nothing depends on the state of a connection. */
export function connections(url: string): Connections {
  const options = { url, bigint: true, connectionTimeout: CONNECT_TIMEOUT_S }
  return {
    reads: new SQL({ ...options, max: READ_CONNECTIONS }),
    connect: () => new SQL({ ...options, max: 1 }),
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
