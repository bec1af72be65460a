import type { Database } from 'bun:sqlite'
import type { Audit, AuditLog } from '../../gateway/ports/audit.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from '../books/cursors.ts'
import type { SealedRevision } from './catalog-seal.ts'
import type { Tables } from './hashed-table.ts'

type AuditRow = {
  id: bigint
  actor: string
  action: string
  subject: string
  detail: string | null
  at_ms: bigint
}

/** The part that all nodes share. Each node adds `record`. */
export type SqliteAuditLog = Omit<AuditLog, 'record'> & {
  /**
   * Inside a step: writes one line, in the same transaction as the change that it records; for an edit of the catalog,
   * with its seal.
   */
  append(audit: Audit, sealed?: SealedRevision): void
}

export function createAuditLog({
  database,
  tables,
}: {
  readonly database: Database
  readonly tables: Tables
}): SqliteAuditLog {
  const select = database.prepare<AuditRow, [bigint, number]>(
    'SELECT * FROM audit_log WHERE id < ? ORDER BY id DESC LIMIT ?',
  )
  const selectAction = database.prepare<{ id: bigint }, [string]>(
    'SELECT id FROM audit_log WHERE action = ? LIMIT 1',
  )
  return {
    has: async action => selectAction.get(action) !== null,
    append({ actor, action, subject, detail, atMs }, sealed) {
      tables.auditLog.insert({
        actor,
        action,
        subject,
        at_ms: atMs,
        detail: detail ?? null,
        revision: sealed?.revision ?? null,
        history_sha256: sealed?.sha256 ?? null,
      })
    },
    async list({ limit, before }) {
      const rows = select.all(before === undefined ? ROW_ID_MAX : readCursor(before).value, limit)
      return rows.map(({ id, actor, action, subject, detail, at_ms }) => ({
        id,
        cursor: cursorOf(id),
        actor,
        action,
        subject,
        detail: detail ?? undefined,
        atMs: Number(at_ms),
      }))
    },
  }
}
