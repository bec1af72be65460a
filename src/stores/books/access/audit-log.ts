import type { Audit, AuditFilter, AuditLog } from '../../../gateway/ports/access/audit.ts'
import { auditTable } from '../rows/access-tables.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from '../cursors.ts'
import { all, first, insert, type StepRunner, type Step } from '../steps.ts'

type AuditRow = {
  id: bigint
  actor: string
  action: string
  subject: string
  detail: string | null
  at_ms: bigint
}

/** The revision of the catalog that an audit line seals, and the hash of its history until there. */
export type SealedRevision = { readonly revision: number; readonly sha256: string }

/**
 * Writes one line, in the same transaction as the change that it records; for an edit of the catalog, with its seal.
 */
export function* appendAudit(audit: Audit, sealed?: SealedRevision): Step<void> {
  const { actor, action, subject, detail, atMs } = audit
  yield* insert(auditTable, {
    actor,
    action,
    subject,
    at_ms: atMs,
    detail: detail ?? null,
    revision: sealed?.revision ?? null,
    history_sha256: sealed?.sha256 ?? null,
  })
}

/** The audit log of one node. */
export function createAuditLog(stepRunner: StepRunner): AuditLog {
  return {
    record: audit => stepRunner.write('access', () => appendAudit(audit)),
    has: action => stepRunner.read(() => hasLine(action)),
    list: page => stepRunner.read(() => linesBefore(page)),
  }
}

function* hasLine(action: string): Step<boolean> {
  return (yield* first('SELECT id FROM audit_log WHERE action = ? LIMIT 1', action)) !== undefined
}

function* linesBefore({ limit, before, ...filter }: Parameters<AuditLog['list']>[0]) {
  const end = before === undefined ? ROW_ID_MAX : readCursor(before).value
  const conditions = conditionsOf(filter)
  const rows = yield* all<AuditRow>(
    `SELECT * FROM audit_log WHERE ${['id < ?', ...conditions.map(({ sql }) => sql)].join(' AND ')}
     ORDER BY id DESC LIMIT ?`,
    end,
    ...conditions.flatMap(({ values }) => values),
    limit,
  )
  return rows.map(({ id, actor, action, subject, detail, at_ms: atMs }) => ({
    id,
    cursor: cursorOf(id),
    actor,
    action,
    subject,
    detail: detail ?? undefined,
    atMs: Number(atMs),
  }))
}

type AuditCondition = { readonly sql: string; readonly values: readonly (string | number)[] }

/** The log has a line for each change of an operator, so that it can be read through. */
function conditionsOf({ actor, action, subject, between }: AuditFilter): readonly AuditCondition[] {
  return [
    ...(actor === undefined ? [] : [containing('actor', actor)]),
    ...(action === undefined
      ? []
      : [{ sql: `(action = ? OR action LIKE ? ESCAPE '!')`, values: [action, `${escaped(action)}.%`] }]),
    ...(subject === undefined ? [] : [containing('subject', subject)]),
    ...(between === undefined
      ? []
      : [{ sql: '(at_ms >= ? AND at_ms < ?)', values: [between.fromMs, between.toMs] }]),
  ]
}

/** SQLite converts only ASCII to lower case, so the text is also compared as it is. */
function containing(column: 'actor' | 'subject', part: string): AuditCondition {
  const pattern = `%${escaped(part)}%`
  return {
    sql: `(lower(${column}) LIKE ? ESCAPE '!' OR ${column} LIKE ? ESCAPE '!')`,
    values: [pattern.toLowerCase(), pattern],
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[!%_]/g, '!$&')
}
