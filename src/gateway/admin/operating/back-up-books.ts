import type { AuditLog } from '../../ports/access/audit.ts'
import type { Backup, Backups } from '../../ports/backups.ts'
import type { Clock } from '../../ports/clock.ts'
import { auditOf, type Actor } from '../operator.ts'

/** The action of the lines of the audit log about backups. Their subjects are the files. */
export const BACKUP_ACTION = 'books.backup'

/** Writes a backup, and a line of the audit log about it. Throws what `Backups.write` throws. */
export async function backUpBooks(
  { file, actor }: { readonly file: string; readonly actor: Actor },
  {
    backups,
    auditLog,
    clock,
  }: { readonly backups: Backups; readonly auditLog: AuditLog; readonly clock: Clock },
): Promise<Backup> {
  const backup = await backups.write(file)
  const detail = `${backup.commits} commits, ${backup.blobFiles} files of jobs`
  await auditLog.record(auditOf({ actor, action: BACKUP_ACTION, subject: file, detail }, clock))
  return backup
}
