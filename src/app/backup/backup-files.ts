/**
 * Where the parts of a backup are: the books in the file that the operator names, and the blobs in a folder beside it.
 */
export function backupFiles(file: string) {
  return {
    books: file,
    blobs: `${file}.blobs`,
    /** The files that are being written. A kill leaves them, and the next backup to the same file removes them. */
    partial: { books: `${file}.partial`, blobs: `${file}.blobs.partial` },
  }
}
