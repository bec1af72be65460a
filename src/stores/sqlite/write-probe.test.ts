import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { turn } from '../../../test/support/turn.ts'
import { openDatabase, type Database } from './database.ts'
import { createGroupCommit } from './group-commit.ts'
import { createWriteProbe } from './write-probe.ts'

function open() {
  const database = openDatabase({ path: join(aDataFolder(), 'tollgate.db') })
  const groupCommit = createGroupCommit(database)
  const disk = { isFull: false }
  groupCommit.join({
    beforeCommit() {
      if (disk.isFull) throw new Error('database or disk is full')
    },
  })
  const write = () =>
    groupCommit.run((db: Database) => db.run('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)'))
  return { database, groupCommit, disk, write, writes: createWriteProbe(groupCommit) }
}

describe('the store', () => {
  test('can be written until a commit fails', async () => {
    const { disk, write, writes } = open()
    await write()
    expect(writes.isWritable()).toBe(true)

    disk.isFull = true
    await write().catch(() => undefined)
    await turn()

    expect(writes.isWritable()).toBe(false)
  })

  test('can be written again once a commit succeeds, and asking has one tried', async () => {
    const { disk, write, writes } = open()
    disk.isFull = true
    await write().catch(() => undefined)
    await turn()
    expect(writes.isWritable()).toBe(false)
    await turn()
    expect(writes.isWritable()).toBe(false)
    await turn()

    disk.isFull = false
    const [asked, later] = [writes.isWritable(), await turn().then(() => writes.isWritable())]

    expect([asked, later]).toEqual([false, true])
  })

  test('can be written where a step took its own writes back', async () => {
    const { groupCommit, writes } = open()
    const refused = groupCommit.run(() => {
      throw new RangeError('changed its mind')
    })
    await refused.catch(() => undefined)

    const seen = [writes.isWritable(), await turn().then(() => writes.isWritable())]

    expect(seen).toEqual([true, true])
  })

  test('is truly written by a try, so that a disk that is full is found out', async () => {
    const { database, groupCommit } = open()
    const logged = () => database.query<{ log: bigint }, []>('PRAGMA wal_checkpoint(PASSIVE)').get()!.log
    const before = logged()

    await groupCommit
      .run(() => {
        throw new RangeError('changed its mind')
      })
      .catch(() => undefined)
    await turn()

    expect(logged()).not.toBe(before)
  })
})
