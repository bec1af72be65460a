import type { Database, Statement } from 'bun:sqlite'
import type { SwitchAction } from '../../../domain/accounts/account.ts'
import type { AccountNames } from './account-names.ts'
import type { Finding } from './finding.ts'
import { inPieces } from './in-pieces.ts'

const ROWS_A_TURN = 256

/** The switches that an audit line turns on or off. The columns have the time of the line, or null. */
const switches: Readonly<Record<string, Switched>> = {
  'account.suspend': { column: 'suspended_at_ms', isSet: true },
  'account.resume': { column: 'suspended_at_ms', isSet: false },
  'account.replays_off': { column: 'replays_off_at_ms', isSet: true },
  'account.replays_on': { column: 'replays_off_at_ms', isSet: false },
  'key.revoke': { column: 'revoked_at_ms', isSet: true },
} satisfies Record<SwitchAction, Switched>

type SwitchColumn = 'suspended_at_ms' | 'replays_off_at_ms' | 'revoked_at_ms'
type Switched = { readonly column: SwitchColumn; readonly isSet: boolean }
type SwitchLine = { id: bigint; action: string; subject: string; at_ms: bigint }

/**
 * An account must be suspended, and have its replays off, since the latest audit line that says so, and a key must be
 * revoked since its line. The steps write the column and the line together, and commit hashes cover the lines.
 */
export function* checkSwitches(database: Database, names: AccountNames): Generator<readonly Finding[]> {
  const lines = new SwitchLines(database)
  while (lines.read()) yield []
  const selectAccounts = database.prepare<SwitchedAccount, [bigint, number]>(
    'SELECT id, public_id, suspended_at_ms, replays_off_at_ms FROM accounts WHERE id > ? ORDER BY id LIMIT ?',
  )
  yield* checkRows(selectAccounts, lines, row => {
    const problem = problemOfAccount(row, lines)
    if (problem === undefined) return undefined
    return { accountId: row.id, problem: `${names.of(row.id)}: ${problem}` }
  })
  const selectKeys = database.prepare<SwitchedKey, [bigint, number]>(
    'SELECT id, account_id, public_id, revoked_at_ms FROM api_keys WHERE id > ? ORDER BY id LIMIT ?',
  )
  yield* checkRows(selectKeys, lines, ({ account_id: accountId, public_id: key, revoked_at_ms: revoked }) => {
    if (lines.at(key, 'revoked_at_ms') === revoked) return undefined
    const state = revoked === null ? 'is not revoked' : 'is revoked'
    return { accountId, problem: `${names.of(accountId)}: API key ${key} ${state}` }
  })
}

type SwitchedAccount = {
  id: bigint
  public_id: string
  suspended_at_ms: bigint | null
  replays_off_at_ms: bigint | null
}
type SwitchedKey = { id: bigint; account_id: bigint; public_id: string; revoked_at_ms: bigint | null }

function problemOfAccount(
  { public_id: id, suspended_at_ms: suspended, replays_off_at_ms: replaysOff }: SwitchedAccount,
  lines: SwitchLines,
): string | undefined {
  if (lines.at(id, 'suspended_at_ms') !== suspended)
    return suspended === null ? 'it is not suspended' : 'it is suspended'
  if (lines.at(id, 'replays_off_at_ms') === replaysOff) return undefined
  return replaysOff === null ? 'its replays are on' : 'its replays are off'
}

type WrongState = { readonly accountId: bigint; readonly problem: string }

function* checkRows<Row extends { id: bigint }>(
  select: Statement<Row, [bigint, number]>,
  lines: SwitchLines,
  check: (row: Row) => WrongState | undefined,
): Generator<readonly Finding[]> {
  for (const rows of inPieces(select, ROWS_A_TURN, row => row.id)) {
    // In the same turn, so that a switch of this moment is in both.
    for (let hasMore = true; hasMore;) hasMore = lines.read()
    yield rows.flatMap(row => {
      const wrong = check(row)
      if (wrong === undefined) return []
      const message = `${wrong.problem}, but the audit log says otherwise.`
      return [{ accountId: wrong.accountId, entryId: null, message }]
    })
  }
}

/** The latest switch of each account and key, from the audit log. */
class SwitchLines {
  readonly #select: Statement<SwitchLine, [bigint, number]>
  /** The time of the line that switched a column on; null if the latest one switched it off. */
  readonly #latest = new Map<string, bigint | null>()
  #lastId = -1n

  constructor(database: Database) {
    this.#select = database.prepare(
      'SELECT id, action, subject, at_ms FROM audit_log WHERE id > ? ORDER BY id LIMIT ?',
    )
  }

  /** False if there are no more lines. */
  read(): boolean {
    const rows = this.#select.all(this.#lastId, ROWS_A_TURN)
    for (const { action, subject, at_ms } of rows) {
      const switched = switches[action]
      if (switched !== undefined)
        this.#latest.set(`${switched.column} ${subject}`, switched.isSet ? at_ms : null)
    }
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return rows.length === ROWS_A_TURN
  }

  /** When a column of an account or a key was set; null if it is not set. */
  at(publicId: string, column: SwitchColumn): bigint | null {
    return this.#latest.get(`${column} ${publicId}`) ?? null
  }
}
