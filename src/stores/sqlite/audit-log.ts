import type { Database } from 'bun:sqlite'
import type { Audit, AuditLog } from '../../gateway/ports/audit.ts'

type Row = {
  id: bigint
  actor: string
  action: string
  subject: string
  detail: string | null
  at_ms: bigint
}

export type SqliteAuditLog = AuditLog & {
  /** Writes one line. Called inside the step of the change it tells of, so that neither is without the other. */
  append(audit: Audit): void
}

export function createAuditLog(database: Database): SqliteAuditLog {
  const insert = database.prepare(
    'INSERT INTO audit_log (actor, action, subject, detail, at_ms) VALUES (?, ?, ?, ?, ?)',
  )
  const older = database.prepare<Row, [bigint | null, number]>(
    'SELECT * FROM audit_log WHERE id < ifnull(?, 9223372036854775807) ORDER BY id DESC LIMIT ?',
  )
  return {
    append({ actor, action, subject, detail, atMs }) {
      insert.run(actor, action, subject, detail ?? null, atMs)
    },
    async list({ limit, before }) {
      const rows = older.all(before ?? null, limit)
      return rows.map(({ id, actor, action, subject, detail, at_ms }) => ({
        id,
        actor,
        action,
        subject,
        detail: detail ?? undefined,
        atMs: Number(at_ms),
      }))
    },
  }
}
