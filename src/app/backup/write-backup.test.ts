import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Database } from 'bun:sqlite'
import { describe, expect, spyOn, test } from 'bun:test'
import { streamOf } from '../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { usd } from '../../domain/money.ts'
import { openDiskBlobs } from '../../stores/disk/blobs.ts'
import { writeBackup } from './write-backup.ts'

/** Without a reference, the collector closes a store, and the files beside its database go. */
const openStores: object[] = []

/** Open books, and the request for a backup of them to an empty folder. */
async function openedBooks() {
  const dataDir = aDataFolder()
  const database = join(dataDir, 'tollgate.db')
  const folder = join(dataDir, 'blobs')
  const store = aSqliteStore(database)
  openStores.push(store)
  await anAccount(store, { funds: usd('1') })
  const blobs = await openDiskBlobs({ folder })
  return { blobs, request: { database, blobs: folder, file: join(aDataFolder(), 'books.db') } }
}

/** Does `change` when the copy of the books begins, however fast the copy is. */
async function duringTheCopy<Result>(change: () => void, work: () => Promise<Result>): Promise<Result> {
  const databases: { query: (sql: string) => unknown } = Database.prototype
  const query: unknown = Reflect.get(databases, 'query')
  const copy = spyOn(databases, 'query')
  copy.mockImplementation(function (this: Database, sql) {
    if (sql.startsWith('VACUUM INTO')) change()
    return Reflect.apply(query as () => unknown, this, [sql])
  })
  try {
    return await work()
  } finally {
    copy.mockRestore()
  }
}

/** The inodes of the files that are made durable during some work, each with whether `file` existed by then. */
async function syncsDuring(file: string, work: () => Promise<unknown>) {
  const handle = await open(import.meta.path, 'r')
  await handle.close()
  const syncs: { readonly inode: number; readonly isNamed: boolean }[] = []
  const sync = spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync')
  sync.mockImplementation(async function (this: FileHandle) {
    const { ino: inode } = await this.stat()
    syncs.push({ inode, isNamed: existsSync(file) })
  })
  try {
    await work()
  } finally {
    sync.mockRestore()
  }
  return syncs
}

test('the copied books are durable before they get the name of the backup', async () => {
  const { request } = await openedBooks()
  const { file } = request

  const syncs = await syncsDuring(file, () => writeBackup(request))

  expect(syncs).toContainEqual({ inode: statSync(file).ino, isNamed: false })
})

describe('while the books are copied', () => {
  test.each([
    { kind: 'file', suffix: '' },
    { kind: 'folder', suffix: '.blobs' },
  ])('a backup never replaces a $kind that is made while the books are copied', async ({ suffix }) => {
    const { request } = await openedBooks()
    const made = `${request.file}${suffix}`

    const error = await rejection(
      duringTheCopy(
        () =>
          suffix === '' ? writeFileSync(made, 'mine') : mkdirSync(join(made, 'mine'), { recursive: true }),
        () => writeBackup(request),
      ),
    )

    expect(error).toMatchObject({
      name: 'BackupExistsError',
      message: `${made} exists. Remove it, or give the backup another name.`,
    })
    expect(readdirSync(dirname(request.file))).toEqual([basename(made)])
  })

  test('a backup has the files of jobs that are removed while the books are copied', async () => {
    const { request, blobs } = await openedBooks()
    await blobs.write('img_1/out-0', streamOf([Buffer.from('a result')]), { bytesMax: 100 })

    const { blobFiles } = await duringTheCopy(
      () => rmSync(join(request.blobs, 'live'), { recursive: true }),
      () => writeBackup(request),
    )

    expect(await blobs.read('img_1/out-0')).toBeUndefined()
    expect(blobFiles).toBe(1)
  })

  test('a backup has the files of jobs that are written while the books are copied', async () => {
    const { request, blobs } = await openedBooks()
    await blobs.write('img_1/out-0', streamOf([Buffer.from('a result')]), { bytesMax: 100 })
    const [live, elsewhere] = [join(request.blobs, 'live'), join(aDataFolder(), 'live')]
    renameSync(live, elsewhere)

    const { blobFiles } = await duringTheCopy(
      () => renameSync(elsewhere, live),
      () => writeBackup(request),
    )

    expect(blobFiles).toBe(1)
  })
})
