import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { GatewayError } from '../../domain/errors.ts'
import type { Backup, Backups } from '../../gateway/ports/backups.ts'
import type { BackupReply } from './backup-worker.ts'
import type { BackupRequest } from './write-backup.ts'

const IN_DATABASE =
  'The books are in a PostgreSQL database. Use its own backups: base backups with archived logs, or those of its provider. See docs/operating/many-nodes.md.'

/** The books in a PostgreSQL database are saved with its own tools. */
export const databaseBackups: Backups & { readonly close: () => void } = {
  elsewhere: IN_DATABASE,
  write: () => Promise.reject(new GatewayError('not_supported', IN_DATABASE)),
  sizeOf,
  close() {},
}

/** Errors of the file system that another path can avoid. */
const WRONG_PATH: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'the user that runs the gateway may not write there',
  EPERM: 'the user that runs the gateway may not write there',
  EROFS: 'its file system is read-only for the gateway',
  ENAMETOOLONG: 'its name is too long',
}

/**
 * Backups of a data folder, one at a time. Each is written in its own worker. `resultsIn` is the storage of results
 * outside of the folder.
 */
export function openBackups(
  { database, blobs }: Pick<BackupRequest, 'database' | 'blobs'>,
  resultsIn?: string,
): Backups & { readonly close: () => void } {
  let stop: (() => void) | undefined
  let isClosed = false
  return {
    sizeOf,
    async write(file) {
      if (!isAbsolute(file)) throw wrongPath(`must be an absolute path, such as "/var/backups/tollgate.db"`)
      if (file.includes('\0')) throw wrongPath('must not contain a NUL character')
      if (stop !== undefined)
        throw new GatewayError('already_exists', 'Another backup is being written. Wait until it has ended.')
      if (isClosed) throw stopping()
      const { promise, resolve, reject } = Promise.withResolvers<Backup>()
      const worker = startWorker({ database, blobs, file }, { resolve, reject })
      stop = () => {
        worker.terminate()
        reject(stopping())
      }
      try {
        return { ...(await promise), ...(resultsIn !== undefined && { resultsIn }) }
      } finally {
        stop = undefined
        worker.terminate()
      }
    },
    close() {
      isClosed = true
      stop?.()
    },
  }
}

/** A file that cannot be read now counts as absent: it may be on a disk that is not mounted. */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() === true ? found.size : undefined
}

function startWorker(
  request: BackupRequest,
  {
    resolve,
    reject,
  }: { readonly resolve: (backup: Backup) => void; readonly reject: (error: unknown) => void },
): Worker {
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url).href)
  worker.addEventListener('message', ({ data }: MessageEvent<BackupReply>) => {
    if ('backup' in data) resolve(data.backup)
    else reject(errorOf(data.failure))
  })
  worker.addEventListener('error', event => {
    event.preventDefault()
    reject(new Error(`The worker of a backup failed: ${event.message}`))
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
  worker.postMessage(request)
  return worker
}

function errorOf({ name, message, code = '' }: Extract<BackupReply, { failure: object }>['failure']): Error {
  if (name === 'BackupExistsError') return new GatewayError('already_exists', message)
  if (name === 'OwnFileError')
    return wrongPath(
      'must not be a path that the gateway itself uses. Use another folder, such as "backups" in the data folder',
    )
  const reason = WRONG_PATH[code]
  if (reason !== undefined) return wrongPath(`cannot be written, because ${reason}`)
  return new GatewayError('unavailable', `The backup could not be written: ${message}.`, {
    shouldRetry: false,
  })
}

function wrongPath(problem: string): GatewayError {
  return new GatewayError('invalid_field', `"file" ${problem}.`, { param: 'file' })
}

function stopping(): GatewayError {
  return new GatewayError('unavailable', 'The gateway is stopping, so the backup was not written.')
}
