import { createHash } from 'node:crypto'
import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aCharge, aCredit, anAccount, anAttempt, hold } from '../../../../test/support/ledger-builders.ts'
import { aSqliteStore, nodeSettings, type TestSqlite } from '../../../../test/support/test-store.ts'
import { usd } from '../../../domain/money.ts'
import type { Balance } from '../../../gateway/ports/ledger/ledger.ts'
import type { StatementLine } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { CanonicalBytes, type SqlValue } from '../../books/rows/canonical.ts'
import { allColumnsOf, formOf, keyOf, selectCovered } from '../../books/rows/hashed-table.ts'
import { hashedTables } from '../../books/rows/hashed-tables.ts'

type Commit = { id: bigint; number: bigint; hash: Uint8Array; name: string }

function commitsOf({ database }: TestSqlite): readonly Commit[] {
  return database
    .query<Commit, []>(
      'SELECT commits.id, number, hash, name FROM commits JOIN nodes ON nodes.id = node_id ORDER BY commits.id',
    )
    .all()
}

/** The hash of a commit as docs/decisions/commit-hashes.md defines it, computed from the tables. */
function documentedHash(
  { database }: TestSqlite,
  previous: Uint8Array,
  { id, number, name }: Commit,
): string {
  const bytes = new CanonicalBytes()
  bytes.addAll(['tollgate commit 1', name, number])
  for (const table of hashedTables) {
    const select = `${selectCovered(table)} WHERE commit_id = ? ORDER BY ${keyOf(table)}`
    for (const row of database.query(select).values(id) as SqlValue[][]) bytes.addAll(formOf(table, row))
  }
  return createHash('sha256').update(previous).update(bytes.bytes).digest('hex')
}

async function usedStore() {
  const store = aSqliteStore()
  const { accountId, apiKeyId } = await anAccount(store, { funds: usd('9') })
  const charge = async () => {
    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('1') })
    await store.ledger.captureHold(held, aCharge(apiKeyId))
  }
  return { store, accountId, apiKeyId, charge }
}

describe('a commit', () => {
  test('a commit has the documented hash over the commit before it and its rows', async () => {
    const { store, charge } = await usedStore()
    await Promise.all([charge(), charge(), charge()])
    await charge()

    const commits = commitsOf(store)

    expect(commits.map(({ number }) => number)).toEqual([1n, 2n, 3n, 4n, 5n])
    let previous = new Uint8Array(32)
    for (const commit of commits) {
      expect(Buffer.from(commit.hash).toString('hex')).toBe(documentedHash(store, previous, commit))
      previous = new Uint8Array(commit.hash)
    }
  })

  test('a commit is written for transactions that add rows, and for no other', async () => {
    const { store, accountId, apiKeyId } = await usedStore()
    const attempt = anAttempt({ accountId, apiKeyId })
    await store.attempts.record(attempt)
    const before = commitsOf(store).length

    await store.attempts.record(attempt)
    await store.attempts.close(attempt)
    await store.ledger.renewHolds()

    expect(commitsOf(store)).toHaveLength(before)
  })

  test('a commit that is rolled back leaves no gap in the chain', async () => {
    const { store, accountId, charge } = await usedStore()
    let isFull = true
    store.transactions.join({
      beforeCommit: () => {
        if (isFull) throw new Error('disk full')
      },
    })
    await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') }).catch(() => undefined)
    isFull = false

    await charge()

    expect(commitsOf(store).map(({ number }) => number)).toEqual([1n, 2n, 3n, 4n])
    expect((await store.ledger.verify()).problems).toEqual([])
  })

  test('a commit belongs to the chain of its node', async () => {
    const { store, accountId, charge } = await usedStore()
    const other = store.openNode(nodeSettings('other', fakeClock()))
    await other.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
    await charge()
    await other.ledger.credit({ ...aCredit(accountId), amount: usd('1') })

    const commits = commitsOf(store).map(({ name, number }) => `${name} ${number}`)

    expect(commits).toEqual(['main 1', 'main 2', 'main 3', 'other 1', 'main 4', 'other 2'])
    expect((await store.ledger.verify()).problems).toEqual([])
  })
})

describe('a listener to the commits of a node', () => {
  test('a listener to the commits of a node reads the balance and the statement with the commit', async () => {
    const { store, accountId } = await usedStore()
    const { ledger } = store
    const reads: Promise<[Balance, readonly StatementLine[]]>[] = []
    const read = () => Promise.all([ledger.balance(accountId), ledger.statement(accountId, { limit: 1 })])
    store.commitChains.onCommit(() => reads.push(read()))

    await ledger.credit({ ...aCredit(accountId), amount: usd('1') })

    const [[balance, [line]]] = (await Promise.all(reads)) as [[Balance, StatementLine[]]]
    expect(reads).toHaveLength(1)
    expect([balance.available, line!.amount]).toEqual([usd('10'), usd('1')])
  })

  test('a listener to the commits of a node that throws does not harm later commits', async () => {
    const { store, accountId, charge } = await usedStore()
    let calls = 0
    store.commitChains.onCommit(() => {
      calls += 1
      if (calls === 1) throw new Error('a defect of the listener')
    })
    await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') }).catch(() => undefined)

    await charge()

    expect(calls).toBe(2)
    expect(commitsOf(store).map(({ number }) => number)).toEqual([1n, 2n, 3n, 4n, 5n])
    expect((await store.ledger.verify()).problems).toEqual([])
  })

  test('a listener to the commits of a node is not called after a transaction that adds nothing to the chain', async () => {
    const { store, accountId } = await usedStore()
    const other = store.openNode(nodeSettings('other', fakeClock()))
    const calls: string[] = []
    store.commitChains.onCommit(() => calls.push('main'))
    other.commitChains.onCommit(() => calls.push('other'))

    await store.ledger.renewHolds()
    await other.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
    await store.ledger.renewHolds()

    expect(calls).toEqual(['other'])
  })
})

test.each(hashedTables.map(table => [table.name, table] as const))(
  'every column of %s is covered by the hash, or named as one that changes',
  (name, table) => {
    const { database } = aSqliteStore()

    const columns = database
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${name}')`)
      .all()
      .map(column => column.name)

    const { changing = {}, later = [] } = table
    expect(columns.toSorted()).toEqual(
      [...allColumnsOf(table), ...Object.keys(changing), ...later].toSorted(),
    )
  },
)
