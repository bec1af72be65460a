import { bodyOf, ok, type Paths } from '../operation.ts'
import { about, closed, count, nullable, object, ref, text, type Members } from '../schema.ts'

const FILE = '/backups/tollgate-monday.db'

export const adminBackupSchemas: Members = {
  NewBackup: closed({
    file: about('An absolute path on the machine of the gateway, of a file that does not exist.', {
      ...text,
      pattern: '^/',
    }),
  }),
  Backup: object({
    file: text,
    bytes: count,
    commits: about('The number of the last commit in it.', count),
    job_files_folder: about('The folder with the files of image and video jobs.', text),
    job_files: count,
    results_in: about(
      'The storage that has the results of jobs, which are then not in the backup. Null if they are in the folder.',
      nullable(text),
    ),
  }),
}

/** Copies of the books. */
export const adminBackupPaths: Paths = {
  backups: {
    post: {
      tag: 'Admin: reading and checking',
      access: 'admin',
      id: 'createBackup',
      summary: 'Copy the books and the files of jobs to a new file and a folder beside it',
      description: 'The gateway continues to serve. The reply comes when the backup is durable.',
      body: bodyOf('NewBackup', { file: FILE }),
      replies: ok('The backup.', ref('Backup'), {
        file: FILE,
        bytes: 241_664,
        commits: 128,
        job_files_folder: `${FILE}.blobs`,
        job_files: 3,
        results_in: null,
      }),
      errors: ['already_exists', 'not_supported', 'unavailable'],
    },
  },
}
