import { chmodSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { storageProblem } from './storage-problem.ts'

const NOBODY = 65_534

describe('the sentence for a storage error', () => {
  test('the sentence for a storage error names the file, the user and the owner if the folder belongs to another user', () => {
    const folder = aDataFolder()
    const file = join(folder, 'tollgate.db')
    writeFileSync(file, '')
    chmodSync(file, 0)

    const { problem, user, owner } = asAnotherUser(() => storageProblem(thrownBy(file), folder))

    expect(problem).toBe(
      owner === user
        ? `This user (id ${user}) has no permission for ${file}. Run: chmod -R u+rwX ${folder}`
        : `This user (id ${user}) has no permission for ${file}. The data folder belongs to the user with id ${owner}. ` +
            `Run the command as that user, or give the folder to this user: chown -R ${user} ${folder}`,
    )
  })

  test('the sentence for a storage error asks for another folder if there is none yet', () => {
    const error = Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/var/lib/gate' })

    expect(storageProblem(error, '/var/lib/gate/none')).toContain(
      'has no permission for /var/lib/gate. Set TOLLGATE_DATA_DIR to a folder',
    )
  })

  test('the sentence for a storage error names a folder in the place of a file', () => {
    const folder = aDataFolder()
    mkdirSync(join(folder, 'tollgate.db'))

    expect(storageProblem(thrownBy(join(folder, 'tollgate.db')), folder)).toStartWith(
      `${join(folder, 'tollgate.db')} is a folder, and the gateway needs a file of that name.`,
    )
  })

  test.each([
    ['SQLITE_CORRUPT', 'The database /data/tollgate.db is damaged. Stop the gateway, '],
    ['SQLITE_CORRUPT_INDEX', 'The database /data/tollgate.db is damaged. Stop the gateway, '],
    ['SQLITE_NOTADB', '/data/tollgate.db is not a database. If it was one, restore it from a backup.'],
    ['SQLITE_FULL', 'The disk of /data/tollgate.db is full. Free some space'],
    [
      'SQLITE_IOERR_WRITE',
      'The disk failed to read or write the database /data/tollgate.db. Check the disk.',
    ],
    ['EROFS', '/data/tollgate.db is on a read-only file system. Set TOLLGATE_DATA_DIR'],
  ])(
    'the sentence for a storage error for %s, also as the cause of another error, begins with %p',
    (code, sentence) => {
      const error = new Error('wrapped', { cause: Object.assign(new Error('raw'), { code }) })

      expect(storageProblem(error, '/data')).toStartWith(sentence)
    },
  )

  test('the sentence for a storage error is absent for other errors', () => {
    expect(storageProblem(new Error('a bug'), '/data')).toBeUndefined()
    expect(
      storageProblem(Object.assign(new Error('x'), { code: 'SQLITE_CONSTRAINT' }), '/data'),
    ).toBeUndefined()
  })
})

function thrownBy(path: string): unknown {
  try {
    openSync(path, 'a')
  } catch (error) {
    return error
  }
  throw new Error(`${path} can be opened.`)
}

/** The administrator can open every file. */
function asAnotherUser(work: () => string | undefined) {
  const owner = process.geteuid?.() ?? 0
  if (owner === 0) process.seteuid?.(NOBODY)
  try {
    return { problem: work(), user: process.geteuid?.() ?? 0, owner }
  } finally {
    if (owner === 0) process.seteuid?.(owner)
  }
}
