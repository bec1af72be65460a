import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { DataFolderInUseError, lockFolder } from './folder-lock.ts'

test('a data folder in use is refused with an error that names it', () => {
  const folder = aDataFolder()
  const lock = lockFolder(folder)

  const locking = () => lockFolder(folder)

  expect(locking).toThrow(DataFolderInUseError)
  expect(locking).toThrow(
    `The data folder ${folder} is in use by another tollgate process. Stop that process, or set TOLLGATE_DATA_DIR to another folder.`,
  )
  lock.release()
})

test('a folder is free again after it was released, also twice', () => {
  const folder = aDataFolder()
  const lock = lockFolder(folder)
  lock.release()
  lock.release()

  const again = lockFolder(folder)

  again.release()
})

test('a folder is free again after its process was killed', async () => {
  const folder = aDataFolder()
  const module = join(import.meta.dirname, 'folder-lock.ts')
  const program = `
    const { lockFolder } = await import(${JSON.stringify(module)})
    lockFolder(${JSON.stringify(folder)})
    Bun.gc(true)
    console.log('locked')
    setInterval(() => {}, 1_000_000)`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  await child.stdout.getReader().read()
  const inUse = rejection(Promise.try(lockFolder, folder))
  child.kill('SIGKILL')
  await child.exited

  const lock = lockFolder(folder)

  expect(await inUse).toBeInstanceOf(DataFolderInUseError)
  lock.release()
})

test('a second lock that fails in the same process does not release the first one', async () => {
  const folder = aDataFolder()
  const lock = lockFolder(folder)
  expect(() => lockFolder(folder)).toThrow(DataFolderInUseError)
  const module = join(import.meta.dirname, 'folder-lock.ts')
  const program = `
    const { lockFolder } = await import(${JSON.stringify(module)})
    try {
      lockFolder(${JSON.stringify(folder)})
      console.log('locked')
    } catch (error) {
      console.log(error.name)
    }`

  const other = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })

  expect(await new Response(other.stdout).text()).toBe('DataFolderInUseError\n')
  lock.release()
})

test('the lock leaves one empty file, for the owner alone', () => {
  const folder = aDataFolder()
  const lock = lockFolder(folder)
  const whileLocked = readdirSync(folder)
  lock.release()

  const { mode, size } = statSync(join(folder, 'lock.db'))

  expect([whileLocked, readdirSync(folder)]).toEqual([['lock.db'], ['lock.db']])
  expect([mode & 0o777, size]).toEqual([0o600, 0])
})
