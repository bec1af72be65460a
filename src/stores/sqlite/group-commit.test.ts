import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { turn } from '../../../test/support/turn.ts'
import { openDatabase, type Database } from './database.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'

type Opened = {
  readonly groupCommit: GroupCommit
  readonly numbers: () => number[]
  readonly database: Database
  /** Ends the distance that commits keep now. */
  readonly endDistance: () => void
}

function open(): Opened {
  const database = openDatabase({ path: join(aDataFolder(), 'tollgate.db') })
  database.run('CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT')
  const numbers = () =>
    database
      .query<{ number: bigint }, []>('SELECT number FROM numbers ORDER BY number')
      .all()
      .map(row => Number(row.number))
  let distances: (() => void)[] = []
  const groupCommit = createGroupCommit(database, then => distances.push(then))
  const endDistance = () => {
    const due = distances
    distances = []
    for (const then of due) then()
  }
  return { groupCommit, numbers, database, endDistance }
}

function insert(number: number) {
  return (database: Database) => {
    database.query('INSERT INTO numbers (number) VALUES (?)').run(number)
    return number
  }
}

function writeThenThrow(database: Database): never {
  insert(999)(database)
  throw new RangeError('changed its mind')
}

describe('group commit', () => {
  test('what waits is committed in one transaction, and each caller gets its own outcome', async () => {
    const { groupCommit, numbers } = open()
    let commits = 0
    groupCommit.join({ afterCommit: () => (commits += 1) })

    const outcomes = await Promise.all([1, 2, 3].map(number => groupCommit.run(insert(number))))

    expect(outcomes).toEqual([1, 2, 3])
    expect(numbers()).toEqual([1, 2, 3])
    expect(commits).toBe(1)
  })

  test('more than a batch is committed in several', async () => {
    const { groupCommit, numbers } = open()
    const wanted = Array.from({ length: 600 }, (_, index) => index)

    await Promise.all(wanted.map(number => groupCommit.run(insert(number))))

    expect(numbers()).toEqual(wanted)
  })

  test('a step that throws after writing leaves no trace, and the others of its batch are committed', async () => {
    const { groupCommit, numbers } = open()

    const outcomes = await Promise.allSettled([
      groupCommit.run(insert(1)),
      groupCommit.run(writeThenThrow),
      groupCommit.run(insert(2)),
      groupCommit.run(writeThenThrow),
    ])

    expect(outcomes.map(outcome => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ])
    expect(outcomes[1]).toHaveProperty('reason.message', 'changed its mind')
    expect(numbers()).toEqual([1, 2])
  })

  test('a commit that fails rejects its whole batch and is taken back by its participants', async () => {
    const { groupCommit, numbers } = open()
    const seen: string[] = []
    let isDiskFull = true
    groupCommit.join({
      beforeCommit: () => {
        if (isDiskFull) throw new Error('disk full')
      },
      afterCommit: () => seen.push('committed'),
      afterRollback: () => seen.push('rolled back'),
    })

    const failed = await Promise.allSettled([groupCommit.run(insert(1)), groupCommit.run(insert(2))])
    isDiskFull = false
    await groupCommit.run(insert(3))

    expect(failed.map(outcome => outcome.status)).toEqual(['rejected', 'rejected'])
    expect(numbers()).toEqual([3])
    expect(seen).toEqual(['rolled back', 'committed'])
  })

  test('a commit that cannot begin, because a transaction was left open, is taken back, and the next one is whole', async () => {
    const { groupCommit, numbers, database } = open()
    const seen: string[] = []
    groupCommit.join({
      afterCommit: () => seen.push('committed'),
      afterRollback: () => seen.push('rolled back'),
    })
    database.run('BEGIN')
    database.run('INSERT INTO numbers VALUES (9)')

    const [failed] = await Promise.allSettled([groupCommit.run(insert(1))])
    await groupCommit.run(insert(2))

    expect(failed).toHaveProperty('reason.message', 'cannot start a transaction within a transaction')
    expect(numbers()).toEqual([2])
    expect(seen).toEqual(['rolled back', 'committed'])
  })

  test('a real full disk is survived', async () => {
    const { groupCommit, numbers, database } = open()
    const pages = database.query<{ page_count: bigint }, []>('PRAGMA page_count').get()
    database.run(`PRAGMA max_page_count = ${pages!.page_count}`)
    const fill = (db: Database) => db.run('CREATE TABLE filler AS SELECT zeroblob(100000) AS zeros')

    const [filled] = await Promise.allSettled([groupCommit.run(fill)])
    const inserted = await groupCommit.run(insert(1))

    expect(filled).toHaveProperty('reason.code', 'SQLITE_FULL')
    expect(inserted).toBe(1)
    expect(numbers()).toEqual([1])
  })

  describe('while a crowd is under way', () => {
    function openCrowded() {
      const opened = open()
      const crowd = { size: 100 }
      const batches: number[][] = []
      opened.groupCommit.join({
        expected: () => crowd.size,
        afterCommit: () => batches.push(opened.numbers()),
      })
      return { ...opened, crowd, batches }
    }

    test('keeps a distance between commits, so that what comes in several turns is committed together', async () => {
      const { groupCommit, batches, endDistance } = openCrowded()
      await groupCommit.run(insert(1))

      const later = [groupCommit.run(insert(2))]
      await turn()
      later.push(groupCommit.run(insert(3)))
      await turn()
      const before = [...batches]
      endDistance()
      await Promise.all(later)

      expect(before).toEqual([[1]])
      expect(batches).toEqual([[1], [1, 2, 3]])
    })

    test('keeps none when all of it wait', async () => {
      const { groupCommit, batches, crowd } = openCrowded()
      await groupCommit.run(insert(1))
      crowd.size = 2

      const both = [groupCommit.run(insert(2)), groupCommit.run(insert(3))]
      await turn()

      expect(batches).toEqual([[1], [1, 2, 3]])
      await Promise.all(both)
    })

    test('keeps none before more than a batch', async () => {
      const { groupCommit, batches, crowd } = openCrowded()
      await groupCommit.run(insert(1))
      crowd.size = 10_000

      const many = Array.from({ length: 256 }, (_, index) => groupCommit.run(insert(index + 2)))
      await turn()

      expect(batches.map(numbers => numbers.length)).toEqual([1, 257])
      await Promise.all(many)
    })

    test('a commit that fails is followed by the next all the same', async () => {
      const { groupCommit, numbers, endDistance } = openCrowded()
      let isDiskFull = false
      groupCommit.join({
        beforeCommit() {
          if (isDiskFull) throw new Error('disk full')
        },
      })
      await groupCommit.run(insert(1))
      isDiskFull = true
      const failing = Promise.allSettled([groupCommit.run(insert(2))])
      endDistance()
      const [failed] = await failing
      isDiskFull = false

      const next = groupCommit.run(insert(3))
      endDistance()
      await next

      expect(failed.status).toBe('rejected')
      expect(numbers()).toEqual([1, 3])
    })

    test('closing commits what waits for its distance', async () => {
      const { groupCommit, numbers } = openCrowded()
      await groupCommit.run(insert(1))
      const waiting = groupCommit.run(insert(2))

      groupCommit.close()

      expect(numbers()).toEqual([1, 2])
      await waiting
    })
  })

  test('closing commits what waits and refuses what comes later', async () => {
    const { groupCommit, numbers } = open()
    const waiting = groupCommit.run(insert(1))

    groupCommit.close()
    const [committed, late] = await Promise.allSettled([waiting, groupCommit.run(insert(2))])

    expect(committed).toEqual({ status: 'fulfilled', value: 1 })
    expect(late).toHaveProperty('reason.code', 'unavailable')
    expect(numbers()).toEqual([1])
  })
})
