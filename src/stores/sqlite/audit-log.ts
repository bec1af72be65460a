import type { Audit } from '../../gateway/ports/audit.ts'
import { appendAudit, type SealedRevision } from '../books/access/audit-log.ts'
import type { StepRunner } from './engine.ts'

/** The audit log for steps that are written for SQLite alone. */
export type SqliteAuditLog = {
  /** Inside a step: writes one line. */
  append(audit: Audit, sealed?: SealedRevision): void
}

export function createAuditLog(stepRunner: StepRunner): SqliteAuditLog {
  return { append: (audit, sealed) => stepRunner.run(appendAudit(audit, sealed)) }
}
