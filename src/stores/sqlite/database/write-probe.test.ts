import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { turn } from '../../../../test/support/turn.ts'
import { openDatabase } from './database.ts'
import { GroupCommit } from '../commits/group-commit.ts'
import { Transactions } from '../commits/transactions.ts'
import { createWriteProbe } from './write-probe.ts'

function open() {
  const database = openDatabase({ path: join(aDataFolder(), 'tollgate.db') })
  const transactions = new Transactions(database)
  const groupCommit = new GroupCommit(transactions)
  const disk = { isFull: false }
  transactions.join({
    beforeCommit() {
      if (disk.isFull) throw new Error('database or disk is full')
    },
  })
  const write = () =>
    groupCommit.run(() => database.run('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)'))
  return {
    database,
    groupCommit,
    disk,
    write,
    writes: createWriteProbe({ database, transactions, groupCommit }),
  }
}

describe('the store', () => {
  test('the store is writable until a commit fails', async () => {
    const { disk, write, writes } = open()
    await write()
    expect(writes.isWritable()).toBe(true)

    disk.isFull = true
    await write().catch(() => undefined)
    await turn()

    expect(writes.isWritable()).toBe(false)
  })

  test('the store is writable again after a commit succeeds, and asking tries one', async () => {
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

  test('the store stays writable if only a step refused its own writes', async () => {
    const { groupCommit, writes } = open()
    const refused = groupCommit.run(() => {
      throw new RangeError('refused')
    })
    await refused.catch(() => undefined)

    const seen = [writes.isWritable(), await turn().then(() => writes.isWritable())]

    expect(seen).toEqual([true, true])
  })

  test('the store is really written by a trial commit, so that a full disk shows', async () => {
    const { database, groupCommit } = open()
    const logged = () => database.query<{ log: bigint }, []>('PRAGMA wal_checkpoint(PASSIVE)').get()!.log
    const before = logged()

    await groupCommit
      .run(() => {
        throw new RangeError('refused')
      })
      .catch(() => undefined)
    await turn()

    expect(logged()).not.toBe(before)
  })
})
