import type { SQL } from 'bun'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { Authority } from '../../../../test/support/certificates.ts'
import { anEmptyDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import type { DatabaseServer } from '../../../gateway/ports/nodes/database-server.ts'
import { clientOptions, connections, requireSafeDatabase } from './database.ts'

const server = await runServer()
const opened: SQL[] = []
function connect(url: string): SQL {
  const { openReads, connect: open } = connections({ url })
  const reads = openReads()
  const sql = open()
  opened.push(reads, sql)
  return sql
}

function serverOf({ hostname, port, username, password, pathname }: URL): DatabaseServer {
  return {
    host: hostname,
    port: Number(port),
    user: username,
    password,
    database: pathname.slice(1),
    tls: 'disable',
    rootCertificate: undefined,
    isPooled: false,
  }
}

function connectTo(to: DatabaseServer): SQL {
  const sql = connections(clientOptions(to)).connect()
  opened.push(sql)
  return sql
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map(sql => sql.close()))
})

describe.skipIf(server === undefined)('a database of PostgreSQL', () => {
  test('a database with the default settings is accepted', async () => {
    const sql = connect(await anEmptyDatabase(server!))

    await requireSafeDatabase(sql)

    const [row] = await sql<{ value: bigint }[]>`SELECT 9223372036854775807 AS value`
    expect(row?.value).toBe(2n ** 63n - 1n)
  })

  test.each(['off', 'local'])(
    'a database with synchronous_commit = %s is refused, because it loses acknowledged charges',
    async value => {
      const url = await anEmptyDatabase(server!)
      await connect(url).unsafe(
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = ${value}`,
      )

      const error = await rejection(requireSafeDatabase(connect(url)))

      expect(String(error)).toContain(
        `The database has synchronous_commit = ${value} and would lose charges.`,
      )
    },
  )

  test('a database that is stricter than needed is accepted', async () => {
    const url = await anEmptyDatabase(server!)
    const name = new URL(url).pathname.slice(1)
    await connect(url).unsafe(`ALTER DATABASE ${name} SET synchronous_commit = remote_apply`)

    expect(await requireSafeDatabase(connect(url))).toBeUndefined()
  })

  test.each(['fsync', 'full_page_writes'])(
    'a database with %s = off is refused, because a power failure damages it',
    async name => {
      const sql = connect(await anEmptyDatabase(server!))
      await sql.unsafe(`ALTER SYSTEM SET ${name} = off`)
      await reloaded(sql, name, 'off')

      const error = await rejection(requireSafeDatabase(sql))

      expect(String(error)).toContain(`The database has ${name} = off and would lose charges. Set it to on.`)
      await sql.unsafe(`ALTER SYSTEM RESET ${name}`)
      await reloaded(sql, name, 'on')
    },
  )

  test('a login with special characters is sent as it is', async () => {
    const url = new URL(await anEmptyDatabase(server!))
    await connect(url.href).unsafe(`CREATE ROLE "we@rd: role/" LOGIN PASSWORD 'p@s:s/%41 "w?rd#'`)

    const sql = connectTo({ ...serverOf(url), user: 'we@rd: role/', password: 'p@s:s/%41 "w?rd#' })

    expect((await sql`SELECT current_user AS name`)[0]).toEqual({ name: 'we@rd: role/' })
    await sql.close()
    await connect(url.href).unsafe('DROP ROLE "we@rd: role/"')
  })

  test.each(['require', 'verify-full'] as const)(
    'with sslmode=%s, a server without TLS is not used',
    async tls => {
      const url = new URL(await anEmptyDatabase(server!))

      const error = await rejection(connectTo({ ...serverOf(url), tls })`SELECT 1`)

      expect(error).toMatchObject({ code: 'ERR_POSTGRES_TLS_NOT_AVAILABLE' })
    },
  )

  describe('a server with TLS', () => {
    const authority = new Authority('tests')

    beforeAll(async () => {
      const { certificate, key } = authority.certify('localhost')
      // PostgreSQL looks for these names.
      server!.addFiles({
        'server.crt': Buffer.from(certificate),
        'server.key': Buffer.from(key),
      })
      await switchTls('on')
    })
    afterAll(() => switchTls('off'))

    test.each<[string, Partial<DatabaseServer>]>([
      ['sslmode=require', { tls: 'require' }],
      ['sslmode=verify-full, its name and its authority', verified(authority, 'localhost')],
    ])('a server with TLS is used with %s', async (_, change) => {
      const url = new URL(await anEmptyDatabase(server!))

      const [row] = await connectTo({ ...serverOf(url), ...change })<{ ssl: boolean }[]>`
        SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`

      expect(row?.ssl).toBe(true)
    })

    test.each<[string, Partial<DatabaseServer>, string]>([
      [
        'another authority',
        verified(new Authority('another'), 'localhost'),
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      ],
      ['another name', verified(authority, '127.0.0.1'), 'ERR_TLS_CERT_ALTNAME_INVALID'],
      [
        'the authorities of the system',
        { tls: 'verify-full', host: 'localhost' },
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      ],
    ])('a server with TLS is not used with sslmode=verify-full and %s', async (_, change, code) => {
      const url = new URL(await anEmptyDatabase(server!))

      const error = await rejection(connectTo({ ...serverOf(url), ...change })`SELECT 1`)

      expect(error).toMatchObject({ code })
    })
  })

  test('with a pooler, no statement is prepared for a session', async () => {
    const url = new URL(await anEmptyDatabase(server!))
    const prepared = async (isPooled: boolean) => {
      const sql = connectTo({ ...serverOf(url), isPooled })
      await sql`SELECT ${1}::integer`
      return (await sql`SELECT name FROM pg_prepared_statements`).length > 0
    }

    expect([await prepared(false), await prepared(true)]).toEqual([true, false])
  })

  test('a file of a certificate authority that cannot be read is named', async () => {
    const url = new URL(await anEmptyDatabase(server!))
    const to = { ...serverOf(url), tls: 'verify-full', rootCertificate: '/no/ca.pem' } as const

    expect(() => connectTo(to)).toThrow('The file /no/ca.pem of "sslrootcert" in TOLLGATE_DATABASE_URL')
  })

  test('a database in another encoding than UTF8 is refused', async () => {
    const sql = connect(await anEmptyDatabase(server!, "ENCODING 'LATIN1' TEMPLATE template0"))

    const error = await rejection(requireSafeDatabase(sql))

    expect(String(error)).toContain('The encoding of the database is LATIN1. Create it with UTF8.')
  })
})

function verified({ certificateFile }: Authority, host: string): Partial<DatabaseServer> {
  return { tls: 'verify-full', rootCertificate: certificateFile, host }
}

async function switchTls(value: 'on' | 'off'): Promise<void> {
  const sql = connect(server!.url('postgres'))
  await sql.unsafe(`ALTER SYSTEM SET ssl = ${value}`)
  await reloaded(sql, 'ssl', value)
}

/** Reads the configuration again until the connection has it. */
async function reloaded(sql: SQL, name: string, value: string): Promise<void> {
  for (;;) {
    const [row] = await sql<{ value: string }[]>`SELECT current_setting(${name}) AS value, pg_reload_conf()`
    if (row?.value === value) return
  }
}
