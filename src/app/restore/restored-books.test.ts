import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import {
  decideRestore,
  finishRestore,
  isRestoreUnfinished,
  refuseUnfinishedRestore,
  restoreSteps,
  stagingFolder,
} from './restored-books.ts'

const PLAN = {
  file: '/backups/monday.db',
  aside: 'replaced-1',
  end: { node: 'main', number: 7, hash: 'ab' },
  entries: 3,
}

/** A data folder whose files say whose they are, and a decided restore in it. */
async function aDecidedRestore({ hasOldBooks = true, hasBlobs = true } = {}) {
  const path = aDataFolder()
  const folder = { path, database: join(path, 'tollgate.db'), blobs: join(path, 'blobs') }
  const anchorPath = join(path, 'anchor.json')
  if (hasOldBooks) {
    for (const name of ['tollgate.db', 'tollgate.db-wal', 'tollgate.db-shm', 'anchor.json'])
      writeFileSync(join(path, name), `old ${name}`)
    mkdirSync(folder.blobs)
    writeFileSync(join(folder.blobs, 'clip'), 'old clip')
  }
  const staging = stagingFolder(folder)
  mkdirSync(staging)
  writeFileSync(join(staging, 'tollgate.db'), 'new tollgate.db')
  if (hasBlobs) {
    mkdirSync(join(staging, 'blobs'))
    writeFileSync(join(staging, 'blobs', 'clip'), 'new clip')
  }
  await decideRestore(folder, PLAN)
  return { folder, anchorPath, ready: join(path, 'restore.ready') }
}

/** All files below a folder with their contents. */
function filesIn(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    names
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map(file => [file.slice(path.length + 1), readFileSync(file, 'utf8')]),
  )
}

const NEW_FILES = {
  'tollgate.db': 'new tollgate.db',
  'blobs/clip': 'new clip',
  'anchor.json': '{"chains":[{"node":"main","number":7,"hash":"ab"}]}\n',
}
const OLD_FILES = {
  'replaced-1/tollgate.db': 'old tollgate.db',
  'replaced-1/tollgate.db-wal': 'old tollgate.db-wal',
  'replaced-1/tollgate.db-shm': 'old tollgate.db-shm',
  'replaced-1/anchor.json': 'old anchor.json',
  'replaced-1/blobs/clip': 'old clip',
}

test('a restore that is killed after any step is finished by the next one, and no file is lost', async () => {
  const { folder, ready, anchorPath } = await aDecidedRestore()
  const count = restoreSteps(folder, { ready, plan: PLAN, anchorPath }).length
  const results: unknown[] = []

  for (let done = 0; done <= count; done += 1) {
    const killed = await aDecidedRestore()
    const steps = restoreSteps(killed.folder, { ...killed, plan: PLAN })
    for (const step of steps.slice(0, done)) await step()
    if (isRestoreUnfinished(killed.folder)) await finishRestore(killed.folder, killed.anchorPath)
    const files = Object.entries(filesIn(killed.folder.path))
    results.push(Object.fromEntries(files.filter(([name]) => !name.startsWith('restore.partial'))))
  }

  const expected = { ...NEW_FILES, ...OLD_FILES }
  expect(results).toEqual(results.map(() => expected))
})

test('files that were made after the kill neither replace the old ones nor mix with the new ones', async () => {
  const { folder, ready, anchorPath } = await aDecidedRestore()
  const steps = restoreSteps(folder, { ready, plan: PLAN, anchorPath })
  for (const step of steps.slice(0, steps.length / 2)) await step()
  for (const name of ['tollgate.db', 'tollgate.db-wal'])
    writeFileSync(join(folder.path, name), `later ${name}`)

  await finishRestore(folder, anchorPath)

  expect(filesIn(folder.path)).toEqual({
    ...NEW_FILES,
    ...OLD_FILES,
    'replaced-1/tollgate.db.later': 'later tollgate.db',
    'replaced-1/tollgate.db-wal.later': 'later tollgate.db-wal',
  })
})

test('a data folder cannot be used until its restore is finished', async () => {
  const { folder, anchorPath } = await aDecidedRestore()

  expect(() => refuseUnfinishedRestore(folder)).toThrow(
    `A restore into ${folder.path} was interrupted. Run "tollgate restore" with the same backup to finish it.`,
  )
  await finishRestore(folder, anchorPath)
  refuseUnfinishedRestore(folder)
  expect(isRestoreUnfinished(folder)).toBe(false)
})

test('a file or a folder with the name of a restore, but without its plan, does not stop the start', () => {
  const [withFile, withFolder] = [{ path: aDataFolder() }, { path: aDataFolder() }]
  writeFileSync(join(withFile.path, 'restore.ready'), 'a backup')
  mkdirSync(join(withFolder.path, 'restore.ready'))

  refuseUnfinishedRestore(withFile)
  refuseUnfinishedRestore(withFolder)
})

test('a restore into an empty folder leaves no folder of replaced books', async () => {
  const { folder, anchorPath } = await aDecidedRestore({ hasOldBooks: false })

  await finishRestore(folder, anchorPath)

  expect(filesIn(folder.path)).toEqual(NEW_FILES)
  expect(existsSync(join(folder.path, 'replaced-1'))).toBe(false)
})

test('a restore without files of jobs leaves those that are there', async () => {
  const { folder, anchorPath } = await aDecidedRestore({ hasBlobs: false })

  await finishRestore(folder, anchorPath)

  expect(readFileSync(join(folder.blobs, 'clip'), 'utf8')).toBe('old clip')
})
