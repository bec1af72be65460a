import type { Mutant } from '../mutant.ts'

const LOCK = 'src/stores/sqlite/database/folder-lock.ts'
const LOCK_TESTS = 'src/stores/sqlite/database/folder-lock.test.ts'
const WRITE = 'src/app/backup/write-backup.ts'
const WRITE_TESTS = 'src/app/backup/write-backup.test.ts'
const BACKUP_TESTS = 'src/app/backup/open-backups.test.ts'
const BLOBS = 'src/stores/disk/copy-blobs.ts'
const BLOB_TESTS = 'src/stores/disk/copy-blobs.test.ts'
const STAGE = 'src/app/restore/stage-backup.ts'
const RESTORED = 'src/app/restore/restored-books.ts'
const RESTORED_TESTS = 'src/app/restore/restored-books.test.ts'
const RESTORE_TESTS = 'src/app/restore/restore-backup.test.ts'

/** Faults in backups, restores and the lock of the data folder. */
export const backupMutants: readonly Mutant[] = [
  {
    name: 'two processes can have a data folder',
    file: LOCK,
    text: "file.run('BEGIN EXCLUSIVE')",
    replacement: "file.run('BEGIN')",
    tests: [LOCK_TESTS],
  },
  {
    name: 'the garbage collector can release a data folder',
    file: LOCK,
    text: '  locked.add(file)\n',
    replacement: '',
    tests: [LOCK_TESTS],
  },
  {
    name: 'a backup replaces a file',
    file: WRITE,
    text: 'if (existsSync(path))',
    replacement: "if (path === '')",
    tests: [BACKUP_TESTS],
  },
  {
    name: 'a failed backup leaves a part of it',
    file: WRITE,
    text: '  } catch (error) {\n    await remove(partial)',
    replacement: '  } catch (error) {',
    tests: [BACKUP_TESTS],
  },
  {
    name: 'a backup lacks files that are removed while the books are copied',
    file: WRITE,
    text: '    await copyBlobs(blobs, partial.blobs)\n    copyDatabase',
    replacement: '    copyDatabase',
    tests: [BACKUP_TESTS],
  },
  {
    name: 'a backup lacks files that are written while the books are copied',
    file: WRITE,
    text: `to: partial.books })
    await copyBlobs(blobs, partial.blobs)`,
    replacement: 'to: partial.books })',
    tests: [BACKUP_TESTS],
  },
  {
    name: 'a backup gets its name before its books are durable',
    file: WRITE,
    text: '    await syncFile(partial.books)\n',
    replacement: '',
    tests: [WRITE_TESTS],
  },
  {
    name: 'a backup lacks archived files',
    file: BLOBS,
    text: "['live', 'archive']",
    replacement: "['live']",
    tests: [BLOB_TESTS],
  },
  {
    name: 'a restore accepts books that do not balance',
    file: STAGE,
    text: 'if (open.length > 0)',
    replacement: 'if (open.length > 9)',
    tests: [RESTORE_TESTS],
  },
  {
    name: 'a restore ignores the write-ahead log of a copied database',
    file: STAGE,
    text: 'if (wal === undefined || wal.size === 0) return',
    replacement: 'if (wal === undefined || wal.size > 0) return',
    tests: [RESTORE_TESTS],
  },
  {
    name: 'a restore replaces books without a reason',
    file: 'src/app/restore/restore-backup.ts',
    text: 'existsSync(folder.database) && replace === undefined',
    replacement: "existsSync(folder.database) && replace === ''",
    tests: [RESTORE_TESTS],
  },
  {
    name: 'a restore keeps the old anchor',
    file: RESTORED,
    text: '    () => diskAnchorFile(anchorPath).write([plan.end]),\n',
    replacement: '',
    tests: [RESTORED_TESTS],
  },
  {
    name: 'files that are made during an interrupted restore replace the old books',
    file: RESTORED,
    text: 'existsSync(to) ? `${to}.later` : to',
    replacement: 'to',
    tests: [RESTORED_TESTS],
  },
  {
    name: 'restored books get the write-ahead log of the replaced ones',
    file: RESTORED,
    text: "const LOGS = ['tollgate.db-wal', 'tollgate.db-shm']",
    replacement: "const LOGS = ['tollgate.db-shm']",
    tests: [RESTORED_TESTS],
  },
  {
    name: 'a data folder can be used while its restore is unfinished',
    file: RESTORED,
    text: 'if (!isRestoreUnfinished(folder)) return',
    replacement: 'if (isRestoreUnfinished(folder)) return',
    tests: [RESTORED_TESTS],
  },
]
