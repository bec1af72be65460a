import { all, first, type StepRunner, type Step } from '../steps.ts'
import type { Finding } from './findings.ts'
import {
  findingsOfAccount,
  findingsOfApiKey,
  findingsOfKeyDefaults,
  findingsOfProject,
  findingsOfToken,
  SwitchLines,
  type SwitchLine,
} from './rules/switch-rules.ts'

const ROWS_A_PIECE = 256

/**
 * In PostgreSQL, a line can be committed after one with a larger id. So each piece reads as many of the latest lines
 * again: far more than there are transactions at once.
 */
const LINES_READ_AGAIN = 256

/**
 * Reads the audit log, then accounts, keys, admin tokens and projects, each piece with the lines that were written
 * since.
 */
export async function* checkSwitches(read: StepRunner['read']): AsyncGenerator<readonly Finding[]> {
  const log = new SwitchLog()
  while (await read(() => log.readPage())) yield []
  yield* checkRows(read, log, {
    select: `SELECT id, public_id, suspended_at_ms, replays_off_at_ms, closed_at_ms, name, first_name, price_list,
        (SELECT terms FROM key_defaults WHERE account_id = accounts.id) AS key_defaults
      FROM accounts WHERE id > ? ORDER BY id LIMIT ?`,
    findingsOf: findingsOfAccount,
  })
  yield* checkRows(read, log, {
    select: `SELECT id, account_id, public_id, revoked_at_ms, disabled_at_ms, settings, name, first_name
      FROM api_keys WHERE id > ? ORDER BY id LIMIT ?`,
    findingsOf: findingsOfApiKey,
  })
  yield* checkRows(read, log, {
    select: 'SELECT id, public_id, name, revoked_at_ms FROM admin_tokens WHERE id > ? ORDER BY id LIMIT ?',
    findingsOf: findingsOfToken,
  })
  yield* checkRows(read, log, {
    select:
      'SELECT id, account_id, public_id, name, closed_at_ms FROM projects WHERE id > ? ORDER BY id LIMIT ?',
    findingsOf: findingsOfProject,
  })
  yield await read(() => checkKeyDefaults(log))
}

type SwitchedRows<Row> = {
  /** Selects the columns of a piece of rows. Its values are the last id of the piece before, and a limit. */
  readonly select: string
  readonly findingsOf: (row: Row, lines: SwitchLines) => readonly Finding[]
}

async function* checkRows<Row extends { readonly id: bigint }>(
  read: StepRunner['read'],
  log: SwitchLog,
  { select, findingsOf }: SwitchedRows<Row>,
): AsyncGenerator<readonly Finding[]> {
  for (let last = -1n; ;) {
    const rows = await read(function* () {
      const rows = yield* all<Row>(select, last, ROWS_A_PIECE)
      yield* log.readNew()
      return rows
    })
    yield rows.flatMap(row => findingsOf(row, log.lines))
    last = rows.at(-1)?.id ?? last
    if (rows.length < ROWS_A_PIECE) return
  }
}

function* checkKeyDefaults(log: SwitchLog): Step<readonly Finding[]> {
  const ofGateway = yield* first<{ terms: string }>('SELECT terms FROM key_defaults WHERE account_id = 0')
  yield* log.readNew()
  return findingsOfKeyDefaults(ofGateway?.terms ?? null, log.lines)
}

/** Reads the lines of the audit log in their order. */
class SwitchLog {
  readonly lines = new SwitchLines()
  /** The ids of the latest lines, in their order. */
  #tail: readonly bigint[] = [];

  /** Reads the next lines. False if there are no more. */
  *readPage(): Step<boolean> {
    const page = yield* all<SwitchLine>(
      'SELECT id, action, subject, at_ms, detail FROM audit_log WHERE id > ? ORDER BY id LIMIT ?',
      this.#tail.at(-1) ?? -1n,
      ROWS_A_PIECE,
    )
    this.#add(page)
    return page.length === ROWS_A_PIECE
  }

  /** Reads all lines that are new, together with the rows of a piece, so that a switch of this moment is in both. */
  *readNew(): Step<void> {
    const read = new Set(this.#tail)
    const latest = yield* all<SwitchLine>(
      'SELECT id, action, subject, at_ms, detail FROM audit_log WHERE id >= ? ORDER BY id',
      this.#tail[0] ?? 0n,
    )
    this.#add(latest.filter(({ id }) => !read.has(id)))
  }

  #add(lines: readonly SwitchLine[]): void {
    for (const line of lines) this.lines.add(line)
    const ids = [...this.#tail, ...lines.map(({ id }) => id)]
    this.#tail = ids.toSorted((left, right) => Number(left - right)).slice(-LINES_READ_AGAIN)
  }
}
