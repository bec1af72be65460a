import { PostgresServer } from './server.ts'
import type { Major } from './programs.ts'

let running: Promise<PostgresServer | undefined> | undefined

/**
 * The PostgreSQL server of this test run, which the first caller starts. Undefined if there is none for this platform
 * or it cannot be fetched; its tests are then skipped, and a line says why. With `TEST_SERVERS=required` it throws
 * instead. `TEST_POSTGRES` chooses another major version than 18.
 */
export function runServer(): Promise<PostgresServer | undefined> {
  running ??= PostgresServer.start(wantedMajor(), 'memory').catch((error: unknown) => {
    if (process.env['TEST_SERVERS'] === 'required') throw error
    process.stderr.write(`The tests of PostgreSQL are skipped. ${String(error)}\n`)
    return undefined
  })
  return running
}

function wantedMajor(): Major {
  const wanted = Number(process.env['TEST_POSTGRES'] ?? 18)
  if (wanted === 15 || wanted === 16 || wanted === 17 || wanted === 18) return wanted
  throw new Error('TEST_POSTGRES must be 15, 16, 17 or 18.')
}
