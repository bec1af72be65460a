import { all, type StepRunner, type Step } from '../steps.ts'
import type { Finding } from './findings.ts'
import {
  findingsOfLimits,
  LIMITS_ACTION,
  LimitLines,
  type LimitedAccount,
  type LimitedOwner,
  type LimitLine,
  type StoredLimits,
} from './rules/limit-rules.ts'

const LINES_A_PIECE = 256
const ACCOUNTS_A_PIECE = 64

/** Reads the changes of limits in the audit log, then accounts with theirs, each piece with the lines written since. */
export async function* checkLimits(read: StepRunner['read']): AsyncGenerator<readonly Finding[]> {
  const log = new LimitLog()
  while (await read(() => log.readPage())) yield []
  for (let last = -1n; ;) {
    const after = last
    const accounts = await read(() => nextAccounts(after, log))
    yield accounts.flatMap(account => findingsOfLimits(account, log.lines))
    last = accounts.at(-1)?.id ?? last
    if (accounts.length < ACCOUNTS_A_PIECE) return
  }
}

type OfAccount = { account_id: bigint }

/** Accounts with everything that has limits of them, and the lines until this moment. */
function* nextAccounts(after: bigint, log: LimitLog): Step<readonly LimitedAccount[]> {
  const accounts = yield* all<{ id: bigint; public_id: string }>(
    'SELECT id, public_id FROM accounts WHERE id > ? ORDER BY id LIMIT ?',
    after,
    ACCOUNTS_A_PIECE,
  )
  const last = accounts.at(-1)?.id ?? after
  const owners = yield* all<LimitedOwner & OfAccount>(OWNERS, after, last, after, last)
  const rows = yield* all<StoredLimits & OfAccount>(LIMITS, after, last)
  while (yield* log.readPage());
  const ownersOf = Map.groupBy(owners, owner => owner.account_id)
  const rowsOf = Map.groupBy(rows, row => row.account_id)
  return accounts.map(({ id, public_id }) => ({
    id,
    owners: [{ kind: 'account', id, public_id }, ...(ownersOf.get(id) ?? [])],
    rows: rowsOf.get(id) ?? [],
  }))
}

/** Reads the lines of changed limits in their order. */
class LimitLog {
  readonly lines = new LimitLines()
  #lastId = -1n;

  /** False if there are no more lines. */
  *readPage(): Step<boolean> {
    const rows = yield* all<LimitLine>(LINES, this.#lastId, LINES_A_PIECE)
    for (const row of rows) this.lines.add(row)
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return rows.length === LINES_A_PIECE
  }
}

const LINES = `SELECT id, subject, detail FROM audit_log WHERE id > ? AND action LIKE '%${LIMITS_ACTION}' ORDER BY id LIMIT ?`

const OWNERS = `SELECT 'project' AS kind, account_id, id, public_id FROM projects WHERE account_id > ? AND account_id <= ?
  UNION ALL SELECT 'key', account_id, id, public_id FROM api_keys WHERE account_id > ? AND account_id <= ?
  ORDER BY account_id, kind, id`

const LIMITS = `SELECT account_id, kind, scope_id, model, terms FROM limits WHERE account_id > ? AND account_id <= ?
  ORDER BY account_id, kind, scope_id, model`
