import { existsSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, spyOn, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { usd } from '../../domain/money.ts'
import { openDiskBlobs } from '../../stores/disk/blobs.ts'
import { writeBackup } from './write-backup.ts'

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
  const dataDir = aDataFolder()
  const database = join(dataDir, 'tollgate.db')
  const blobs = join(dataDir, 'blobs')
  const store = aSqliteStore(database)
  await anAccount(store, { funds: usd('1') })
  await openDiskBlobs({ folder: blobs })
  const file = join(aDataFolder(), 'books.db')

  const syncs = await syncsDuring(file, () => writeBackup({ database, blobs, file }))

  expect(syncs).toContainEqual({ inode: statSync(file).ino, isNamed: false })
  await store.close()
})
