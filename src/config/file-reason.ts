const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EBUSY: 'it is in use',
  EXDEV: 'it is on another file system',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

/** Why a file that the operator named cannot be read or written: the end of a sentence, without a period. */
export function fileReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? error.message
}
