import { bodyOf, ok, pageParameters, type Paths } from '../operation.ts'
import {
  about,
  closed,
  count,
  dateTime,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  type Members,
} from '../schema.ts'

const FILE = '/backups/tollgate-monday.db'

export const adminBackupSchemas: Members = {
  NewBackup: closed({
    file: about('An absolute path on the machine of the gateway, of a file that does not exist.', {
      ...text,
      pattern: '^/',
    }),
  }),
  BackupPage: pageSchema(
    object({
      file: text,
      made_at: dateTime,
      made_by: text,
      detail: nullable(text),
      bytes: about(
        'The size of the file now. Null if the machine of this gateway does not have it (any more).',
        nullable(count),
      ),
    }),
    {
      made_elsewhere: about(
        'Where backups of these books are made, if the gateway cannot make them: with PostgreSQL. Otherwise null.',
        nullable(text),
      ),
    },
  ),
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
    get: {
      tag: 'Admin: reading and checking',
      access: 'admin',
      id: 'listBackups',
      summary: 'The backups that were made with `POST backups`, newest first',
      parameters: pageParameters,
      replies: ok('A page, as the audit log has it.', ref('BackupPage'), {
        data: [
          {
            file: FILE,
            made_at: '2026-11-23T05:50:09.183Z',
            made_by: 'admin',
            detail: '128 commits, 3 files of jobs',
            bytes: 241_664,
          },
        ],
        has_more: false,
        next: null,
        made_elsewhere: null,
      }),
      errors: ['invalid_field'],
    },
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
