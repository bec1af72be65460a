import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { streamOf } from '../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { usd } from '../../domain/money.ts'
import { openDiskBlobs } from '../../stores/disk/blobs.ts'
import type { SqliteStore } from '../../stores/sqlite/store.ts'
import { openBackups } from './open-backups.ts'

/** Without a reference, the collector closes a store, and the files beside its database go. */
const openStores: SqliteStore[] = []

/** The backups of open books, and a path in an empty folder. */
async function openedBooks() {
  const dataDir = aDataFolder()
  const store = aSqliteStore(join(dataDir, 'tollgate.db'))
  openStores.push(store)
  await anAccount(store, { funds: usd('1') })
  const blobFolder = join(dataDir, 'blobs')
  const blobs = await openDiskBlobs({ folder: blobFolder })
  const backups = openBackups({ database: join(dataDir, 'tollgate.db'), blobs: blobFolder })
  return { dataDir, store, backups, blobs, file: join(aDataFolder(), 'books.db') }
}

describe('a backup', () => {
  test('a backup is a file for the owner alone, with a folder for the files of jobs', async () => {
    const { backups, file, store } = await openedBooks()

    const { bytes, commits, blobFiles } = await backups.write(file)

    expect(readdirSync(dirname(file)).sort()).toEqual(['books.db', 'books.db.blobs'])
    expect(statSync(file)).toMatchObject({ size: bytes, mode: 0o100600 })
    expect([commits, blobFiles]).toEqual([(await store.commitChains.ends())[0]!.number, 0])
  })

  test('a backup never replaces a file or a folder', async () => {
    const { backups, file } = await openedBooks()
    writeFileSync(file, 'mine')
    const other = `${file}-2`
    mkdirSync(`${other}.blobs`)

    const errors = [await rejection(backups.write(file)), await rejection(backups.write(other))]

    expect(errors).toMatchObject([
      { code: 'already_exists', message: `${file} exists. Remove it, or give the backup another name.` },
      {
        code: 'already_exists',
        message: `${other}.blobs exists. Remove it, or give the backup another name.`,
      },
    ])
    expect(readdirSync(dirname(file)).sort()).toEqual(['books.db', 'books.db-2.blobs'])
  })

  test('a backup removes what a killed backup to the same file left', async () => {
    const { backups, file } = await openedBooks()
    writeFileSync(`${file}.partial`, 'half')
    mkdirSync(`${file}.blobs.partial`)

    await backups.write(file)

    expect(readdirSync(dirname(file)).sort()).toEqual(['books.db', 'books.db.blobs'])
  })

  test('a backup removes what a kill left between the names of its two parts', async () => {
    const { backups, file } = await openedBooks()
    writeFileSync(`${file}.partial`, 'whole')
    mkdirSync(join(`${file}.blobs`, 'live'), { recursive: true })

    await backups.write(file)

    expect(readdirSync(dirname(file)).sort()).toEqual(['books.db', 'books.db.blobs'])
  })

  test('a backup removes the second name that a kill left beside a whole backup, which stays', async () => {
    const { backups, file } = await openedBooks()
    await backups.write(file)
    linkSync(file, `${file}.partial`)

    expect(await rejection(backups.write(file))).toMatchObject({ code: 'already_exists' })

    expect(readdirSync(dirname(file)).sort()).toEqual(['books.db', 'books.db.blobs'])
  })

  test.each<[string, (file: string) => string, string]>([
    ['relative', () => 'books.db', '"file" must be an absolute path, such as "/var/backups/tollgate.db".'],
    [
      'in a missing folder',
      file => join(file, 'books.db'),
      '"file" cannot be written, because its folder does not exist.',
    ],
    [
      'below a file',
      file => {
        writeFileSync(file, '')
        return join(file, 'x', 'books.db')
      },
      '"file" cannot be written, because a part of its path is a file.',
    ],
    ['with a NUL character', file => `${file}\0.db`, '"file" must not contain a NUL character.'],
  ])('a backup to a path that is %s is refused', async (_, pathOf, message) => {
    const { backups, file } = await openedBooks()

    const error = await rejection(backups.write(pathOf(file)))

    expect(error).toMatchObject({ code: 'invalid_field', message, extras: { param: 'file' } })
  })

  test.each([
    'secret.key',
    'admin.key.new',
    'server.json',
    'anchor.json',
    'lock.db',
    'tollgate.db-wal',
    'restore',
    'restore.ready',
    'RESTORE.ready',
    'replaced-20261122T165940Z/books.db',
    'blobs',
    'blobs/inner',
    'blobs/live/inner',
    'backups/../blobs/partial/inner',
  ])('a backup is not written to %s in the data folder, which belongs to the gateway', async name => {
    const { dataDir, backups, blobs } = await openedBooks()
    await blobs.write('img_1/out-0', streamOf([Buffer.from('a result')]), { bytesMax: 100 })
    for (const folder of ['backups', 'replaced-20261122T165940Z']) mkdirSync(join(dataDir, folder))
    const before = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).sort()

    const error = await rejection(backups.write(`${dataDir}/${name}`))

    expect(error).toMatchObject({
      code: 'invalid_field',
      message:
        '"file" must not be a path that the gateway itself uses. Use another folder, such as "backups" in the data folder.',
      extras: { param: 'file' },
    })
    expect(readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).sort()).toEqual(before)
  })

  test('a backup is not written among the files of the gateway through a symbolic link', async () => {
    const { dataDir, backups, file } = await openedBooks()
    const link = join(dirname(file), 'link')
    symlinkSync(dataDir, link)
    // The files of jobs can be on another disk.
    const elsewhere = aDataFolder()
    rmSync(join(dataDir, 'blobs'), { recursive: true })
    symlinkSync(elsewhere, join(dataDir, 'blobs'))

    const errors = [
      await rejection(backups.write(join(link, 'secret.key'))),
      await rejection(backups.write(join(elsewhere, 'inner'))),
    ]

    expect(errors).toMatchObject([{ code: 'invalid_field' }, { code: 'invalid_field' }])
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('a backup never removes the data folder, even if it has the name of an unfinished backup', async () => {
    const dataDir = `${aDataFolder()}/books.db.partial`
    mkdirSync(dataDir)
    await anAccount(aSqliteStore(join(dataDir, 'tollgate.db')))
    const backups = openBackups({ database: join(dataDir, 'tollgate.db'), blobs: join(dataDir, 'blobs') })

    const error = await rejection(backups.write(join(dataDir, '..', 'books.db')))

    expect(error).toMatchObject({ code: 'invalid_field' })
    expect(existsSync(join(dataDir, 'tollgate.db'))).toBe(true)
  })

  test('a backup can be written to the data folder and to a folder in it', async () => {
    const { dataDir, backups } = await openedBooks()
    mkdirSync(join(dataDir, 'backups'))

    for (const name of ['monday.db', 'backups/secret.key']) await backups.write(join(dataDir, name))

    expect(existsSync(join(dataDir, 'monday.db'))).toBe(true)
    expect(readdirSync(join(dataDir, 'backups')).sort()).toEqual(['secret.key', 'secret.key.blobs'])
  })

  test('a backup of books that cannot be read fails, and leaves no file', async () => {
    const dataDir = aDataFolder()
    writeFileSync(join(dataDir, 'tollgate.db'), 'notes')
    const backups = openBackups({ database: join(dataDir, 'tollgate.db'), blobs: join(dataDir, 'blobs') })
    const file = join(aDataFolder(), 'books.db')

    const error = await rejection(backups.write(file))

    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('The backup could not be written: '),
    })
    expect(readdirSync(dirname(file))).toEqual([])
  })

  test('a backup is written one at a time', async () => {
    const { backups, file } = await openedBooks()
    const first = backups.write(file)

    const error = await rejection(backups.write(`${file}-2`))

    expect(error).toMatchObject({
      code: 'already_exists',
      message: expect.stringContaining('Another backup'),
    })
    await first
    await backups.write(`${file}-3`)
    expect(existsSync(`${file}-3`)).toBe(true)
  })

  test('a backup that is running when the gateway stops is given up', async () => {
    const { backups, file } = await openedBooks()
    const running = rejection(backups.write(file))
    backups.close()

    expect(await running).toMatchObject({ code: 'unavailable' })
    expect(await rejection(backups.write(file))).toMatchObject({ code: 'unavailable' })
    expect(existsSync(file)).toBe(false)
  })
})
