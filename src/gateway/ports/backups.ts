/** Copies of the books and of the files of jobs. */
export interface Backups {
  /** Where backups of these books are made, as a sentence for the operator. Undefined if `write` makes them. */
  readonly elsewhere?: string
  /** The size of the file of a backup. Undefined if there is no such file now. */
  sizeOf(file: string): Promise<number | undefined>
  /**
   * Writes a backup to a new file, and the files of jobs into a folder beside it, while the gateway works. The backup
   * has every charge that was reported to a client before the call. The file gets its name only when the backup is
   * complete and durable. Throws `invalid_field` for a path that cannot be used, `already_exists` if the file exists or
   * another backup is being written, and `unavailable` if it cannot be written. A failed backup leaves no file. Results
   * that are stored on another machine are not copied.
   */
  write(file: string): Promise<Backup>
}

export type Backup = {
  /** An absolute path. */
  readonly file: string
  /** The size of the file. */
  readonly bytes: number
  /** The number of the last commit in it. */
  readonly commits: number
  /** The folder with the files of image and video jobs. */
  readonly blobs: string
  /** The number of files in that folder. */
  readonly blobFiles: number
  /** The storage that has the results of jobs, which are not in the backup. Undefined if they are in that folder. */
  readonly resultsIn?: string
}
