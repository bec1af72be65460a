import type { AuditLog } from '../../ports/audit.ts'
import type { Backup, Backups } from '../../ports/backups.ts'
import type { Clock } from '../../ports/clock.ts'
import { auditOf, type Actor } from '../operator.ts'

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
  await auditLog.record(auditOf({ actor, action: 'books.backup', subject: file, detail }, clock))
  return backup
}
