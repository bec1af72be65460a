import type { Database, Statement } from 'bun:sqlite'
import type { Finding } from '../../books/verify/findings.ts'
import {
  findingsOfAccount,
  findingsOfApiKey,
  findingsOfKeyDefaults,
  findingsOfProject,
  findingsOfToken,
  SwitchLines,
  type SwitchedAccount,
  type SwitchedKey,
  type SwitchedProject,
  type SwitchedToken,
  type SwitchLine,
} from '../../books/verify/switches.ts'
import { inPieces } from './in-pieces.ts'

const ROWS_A_TURN = 256

/**
 * Reads the audit log, then accounts, keys, admin tokens and projects, each piece with the lines that were written
 * since.
 */
export function* checkSwitches(database: Database): Generator<readonly Finding[]> {
  const log = new SwitchLog(database)
  while (log.read()) yield []
  const accounts = database.prepare<SwitchedAccount, [bigint, number]>(
    `SELECT id, public_id, suspended_at_ms, replays_off_at_ms, closed_at_ms, name, first_name, price_list,
        (SELECT terms FROM key_defaults WHERE account_id = accounts.id) AS key_defaults
      FROM accounts WHERE id > ? ORDER BY id LIMIT ?`,
  )
  for (const rows of inPieces(accounts, ROWS_A_TURN, row => row.id)) {
    log.readAll()
    yield rows.flatMap(row => findingsOfAccount(row, log.lines))
  }
  const keys = database.prepare<SwitchedKey, [bigint, number]>(
    `SELECT id, account_id, public_id, revoked_at_ms, disabled_at_ms, settings, name, first_name FROM api_keys
      WHERE id > ? ORDER BY id LIMIT ?`,
  )
  for (const rows of inPieces(keys, ROWS_A_TURN, row => row.id)) {
    log.readAll()
    yield rows.flatMap(row => findingsOfApiKey(row, log.lines))
  }
  const tokens = database.prepare<SwitchedToken, [bigint, number]>(
    'SELECT id, public_id, name, revoked_at_ms FROM admin_tokens WHERE id > ? ORDER BY id LIMIT ?',
  )
  for (const rows of inPieces(tokens, ROWS_A_TURN, row => row.id)) {
    log.readAll()
    yield rows.flatMap(row => findingsOfToken(row, log.lines))
  }
  const projects = database.prepare<SwitchedProject, [bigint, number]>(
    'SELECT id, account_id, public_id, name, closed_at_ms FROM projects WHERE id > ? ORDER BY id LIMIT ?',
  )
  for (const rows of inPieces(projects, ROWS_A_TURN, row => row.id)) {
    log.readAll()
    yield rows.flatMap(row => findingsOfProject(row, log.lines))
  }
  log.readAll()
  const ofGateway = database
    .query<{ terms: string }, []>('SELECT terms FROM key_defaults WHERE account_id = 0')
    .get()
  yield findingsOfKeyDefaults(ofGateway?.terms ?? null, log.lines)
}

/** Reads the lines of the audit log in their order. */
class SwitchLog {
  readonly lines = new SwitchLines()
  readonly #select: Statement<SwitchLine, [bigint, number]>
  #lastId = -1n

  constructor(database: Database) {
    this.#select = database.prepare(
      'SELECT id, action, subject, at_ms, detail FROM audit_log WHERE id > ? ORDER BY id LIMIT ?',
    )
  }

  /** False if there are no more lines. */
  read(): boolean {
    const rows = this.#select.all(this.#lastId, ROWS_A_TURN)
    for (const row of rows) this.lines.add(row)
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return rows.length === ROWS_A_TURN
  }

  /** In the same turn as the rows, so that a switch of this moment is in both. */
  readAll(): void {
    for (let hasMore = true; hasMore;) hasMore = this.read()
  }
}
