import type { Backup } from '../../gateway/ports/backups.ts'
import { writeBackup, type BackupRequest } from './write-backup.ts'

/** The answer of the worker. Errors lose their class on the way, so their name and code are sent. */
export type BackupReply =
  | { readonly backup: Backup }
  | {
      readonly failure: { readonly name: string; readonly message: string; readonly code: string | undefined }
    }

self.addEventListener('message', ({ data }: MessageEvent<BackupRequest>) => {
  void replyTo(data).then(reply => postMessage(reply))
})

async function replyTo(request: BackupRequest): Promise<BackupReply> {
  try {
    return { backup: await writeBackup(request) }
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string }
    return { failure: { name, message, code } }
  }
}
