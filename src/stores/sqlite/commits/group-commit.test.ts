import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { turn } from '../../../../test/support/turn.ts'
import { openDatabase } from '../database/database.ts'
import { GroupCommit } from './group-commit.ts'
import { Transactions } from './transactions.ts'

function open() {
  const database = openDatabase({ path: join(aDataFolder(), 'tollgate.db') })
  database.run('CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT')
  const transactions = new Transactions(database)
  const pauses: { readonly delayMs: number; readonly end: () => void }[] = []
  const groupCommit = new GroupCommit(transactions, {
    after: (delayMs, end) => void pauses.push({ delayMs, end }),
  })
  const numbers = () =>
    database
      .query<{ number: bigint }, []>('SELECT number FROM numbers ORDER BY number')
      .all()
      .map(row => Number(row.number))
  const insert = (number: number) => () => {
    database.query('INSERT INTO numbers (number) VALUES (?)').run(number)
    return number
  }
  /** The numbers that are in the table after each commit. */
  const commits: number[][] = []
  transactions.join({ afterCommit: () => commits.push(numbers()) })
  return {
    database,
    transactions,
    groupCommit,
    numbers,
    insert,
    commits,
    pauses,
    /** Ends the pause after the last commit. */
    endPause: () => pauses.pop()!.end(),
    writeThenThrow: () => {
      insert(999)()
      throw new RangeError('refused')
    },
  }
}

describe('group commit', () => {
  test('writes that wait at the end of a turn are committed in one transaction, each with its own result', async () => {
    const { groupCommit, insert, commits } = open()

    const results = await Promise.all([1, 2, 3].map(number => groupCommit.run(insert(number))))

    expect(results).toEqual([1, 2, 3])
    expect(commits).toEqual([[1, 2, 3]])
  })

  test('more than a batch is committed in several transactions', async () => {
    const { groupCommit, insert, commits } = open()
    const wanted = Array.from({ length: 600 }, (_, index) => index)

    const committing = Promise.all(wanted.map(number => groupCommit.run(insert(number))))
    groupCommit.close()
    await committing

    expect(commits.map(numbers => numbers.length)).toEqual([256, 512, 600])
  })

  test('work that throws after writing leaves no trace, and the other writes are committed', async () => {
    const { groupCommit, insert, numbers, writeThenThrow } = open()

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
    expect(outcomes[1]).toHaveProperty('reason.message', 'refused')
    expect(numbers()).toEqual([1, 2])
  })

  test('a commit that fails rejects the whole batch, and its participants roll back', async () => {
    const { groupCommit, transactions, insert, numbers } = open()
    const seen: string[] = []
    let isDiskFull = true
    transactions.join({
      beforeCommit: () => {
        if (isDiskFull) throw new Error('disk full')
      },
      afterCommit: () => seen.push('committed'),
      afterRollback: () => seen.push('rolled back'),
    })

    const failed = await Promise.allSettled([groupCommit.run(insert(1)), groupCommit.run(insert(2))])
    isDiskFull = false
    const next = groupCommit.run(insert(3))
    groupCommit.close()
    await next

    expect(failed.map(outcome => outcome.status)).toEqual(['rejected', 'rejected'])
    expect(numbers()).toEqual([3])
    expect(seen).toEqual(['rolled back', 'committed'])
  })

  test('a commit that cannot begin, because a transaction was left open, rolls back, and the next one is complete', async () => {
    const { groupCommit, database, insert, numbers } = open()
    database.run('BEGIN')
    database.run('INSERT INTO numbers VALUES (9)')

    const [failed] = await Promise.allSettled([groupCommit.run(insert(1))])
    await groupCommit.run(insert(2))

    expect(failed).toMatchObject({
      reason: {
        code: 'unavailable',
        cause: { message: 'cannot start a transaction within a transaction' },
      },
    })
    expect(numbers()).toEqual([2])
  })

  test('commits continue after the disk was really full', async () => {
    const { groupCommit, database, insert, numbers } = open()
    const pages = database.query<{ page_count: bigint }, []>('PRAGMA page_count').get()
    database.run(`PRAGMA max_page_count = ${pages!.page_count}`)
    const fill = () => database.run('CREATE TABLE filler AS SELECT zeroblob(100000) AS zeros')

    const [filled] = await Promise.allSettled([groupCommit.run(fill)])
    const inserted = await groupCommit.run(insert(1))

    expect(filled).toMatchObject({ reason: { code: 'unavailable', cause: { code: 'SQLITE_FULL' } } })
    expect(inserted).toBe(1)
    expect(numbers()).toEqual([1])
  })

  test('closing commits what waits and refuses later writes', async () => {
    const { groupCommit, insert, numbers } = open()
    const waiting = groupCommit.run(insert(1))

    groupCommit.close()
    const [committed, late] = await Promise.allSettled([waiting, groupCommit.run(insert(2))])

    expect(committed).toEqual({ status: 'fulfilled', value: 1 })
    expect(late).toHaveProperty('reason.code', 'unavailable')
    expect(numbers()).toEqual([1])
  })
})

describe('after a commit of several writes', () => {
  async function openPausing() {
    const opened = open()
    const { groupCommit, insert, commits } = opened
    await Promise.all([groupCommit.run(insert(1)), groupCommit.run(insert(2))])
    commits.length = 0
    return opened
  }

  test('the next commit waits for at most 2 ms, so that writes of several turns share it', async () => {
    const { groupCommit, insert, commits, pauses, endPause } = await openPausing()
    const later = [groupCommit.run(insert(3))]
    await turn()
    later.push(groupCommit.run(insert(4)))
    await turn()
    const during = [...commits]

    const [{ delayMs }] = pauses as [(typeof pauses)[number]]
    endPause()
    await Promise.all(later)

    expect(delayMs).toBeLessThanOrEqual(2)
    expect(during).toEqual([])
    expect(commits).toEqual([[1, 2, 3, 4]])
  })

  test('a full batch does not wait', async () => {
    const { groupCommit, insert, commits } = await openPausing()

    const many = Array.from({ length: 256 }, (_, index) => groupCommit.run(insert(index + 3)))
    await turn()

    expect(commits.map(numbers => numbers.length)).toEqual([258])
    await Promise.all(many)
  })

  test('closing commits what waits', async () => {
    const { groupCommit, insert, numbers } = await openPausing()
    const waiting = groupCommit.run(insert(3))

    groupCommit.close()

    expect(numbers()).toEqual([1, 2, 3])
    await waiting
  })

  test('a commit that fails does not stop later ones', async () => {
    const { groupCommit, transactions, insert, numbers, endPause } = await openPausing()
    let isDiskFull = true
    transactions.join({
      beforeCommit() {
        if (isDiskFull) throw new Error('disk full')
      },
    })
    const failing = Promise.allSettled([groupCommit.run(insert(3)), groupCommit.run(insert(4))])
    endPause()
    const [failed] = await failing
    isDiskFull = false

    const next = groupCommit.run(insert(5))
    endPause()
    await next

    expect(failed.status).toBe('rejected')
    expect(numbers()).toEqual([1, 2, 5])
  })
})

test('a single sequential caller never waits', async () => {
  const { groupCommit, insert, pauses, numbers } = open()

  for (const number of [1, 2, 3]) await groupCommit.run(insert(number))

  expect(numbers()).toEqual([1, 2, 3])
  expect(pauses).toEqual([])
})
