import type { SQL } from 'bun'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aJob, jobIn, moveTo } from '../../../../test/support/job-builders.ts'
import { aBill, aCharge, anAccount, anAttempt, hold, NOW } from '../../../../test/support/ledger-builders.ts'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { bothAfterEdits } from '../../../../test/support/postgres/edited-books.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../../test/support/postgres/a-node.ts'
import { usd } from '../../../domain/money.ts'
import { connections } from '../database/database.ts'

const server = await runServer()
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

type Node = Awaited<ReturnType<typeof aNode>>
type Payer = { readonly accountId: number; readonly apiKeyId: number }

/** A database with an account that was charged twice, whose books were checked, and a node. */
async function checkedBooks() {
  const { sql, open } = await aStore()
  const node = await open('one')
  const payer = await anAccount(node, { name: 'ada', publicId: 'acct_ada', funds: usd('20') })
  for (let charges = 0; charges < 2; charges += 1) await chargeText(node, payer)
  await node.ledger.verify()
  /** Edits rows without the triggers, as a superuser can. */
  const edit = (text: string) =>
    sql.begin(async transaction => {
      await transaction`SELECT set_config('session_replication_role', 'replica', true)`
      await transaction.unsafe(text)
    })
  return { sql, open, node, payer, edit }
}

async function aStore() {
  const url = await aDatabase(server!)
  const sql = connections({ url }).openReads()
  ends.push(() => sql.close())
  const clock = fakeClock()
  const open = async (name: string) => {
    const node = await aNode(url, name, clock)
    ends.push(() => node.close())
    return node
  }
  return { sql, clock, open }
}

async function chargeText({ ledger }: Node, { accountId, apiKeyId }: Payer, tokens = 1): Promise<void> {
  const held = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
  await ledger.captureHold(held, aCharge(apiKeyId, { tokens }))
}

describe.skipIf(server === undefined)('a check of the recent rows', () => {
  test('the first check reads all rows, and the next one those that were written since', async () => {
    const { open } = await aStore()
    const node = await open('one')
    const payer = await anAccount(node, { funds: usd('20') })

    const first = await node.ledger.verifyRecent()
    await chargeText(node, payer)
    const second = await node.ledger.verifyRecent()

    expect(first).toEqual({ problems: [], affected: [], entries: 2 })
    expect(second).toEqual({ problems: [], affected: [], entries: 4, isRecent: true })
  })

  test('an edit of an earlier row is found by a full check, and then by each one until it is accepted', async () => {
    const { node, edit, payer } = await checkedBooks()
    await edit("UPDATE charges SET route = 'other' WHERE id = (SELECT min(id) FROM charges)")

    const overlooked = await node.ledger.verifyRecent()
    const full = await node.ledger.verify()
    const next = await node.ledger.verifyRecent()
    const accepted = { actor: 'admin', action: 'books.accept', subject: full.problems[0]!.id, atMs: NOW }
    await node.auditLog.record(accepted)
    const afterwards = await node.ledger.verifyRecent()
    await chargeText(node, payer)
    const last = await node.ledger.verifyRecent()

    expect(overlooked).toMatchObject({ problems: [], isRecent: true })
    expect(full).toMatchObject({ problems: [{ accountId: payer.accountId }], affected: [payer.accountId] })
    expect(next).toEqual(full)
    expect(afterwards).toMatchObject({ problems: [{ isAccepted: true }], affected: [] })
    expect(last).toMatchObject({ problems: [], affected: [], isRecent: true })
  })

  test('an edit of a later row is found with all others, and is no longer looked for in vain once it was undone', async () => {
    const { node, edit, payer } = await checkedBooks()
    await chargeText(node, payer)
    await edit('UPDATE balances SET cash = cash + 1')

    const found = await node.ledger.verifyRecent()
    await edit('UPDATE balances SET cash = cash - 1')
    const undone = await node.ledger.verifyRecent()
    const next = await node.ledger.verifyRecent()

    expect(found).toMatchObject({ affected: [payer.accountId] })
    expect(found.isRecent).toBeUndefined()
    expect(undone).toMatchObject({ problems: [] })
    expect(undone.isRecent).toBeUndefined()
    expect(next).toMatchObject({ problems: [], isRecent: true })
  })

  test.each([
    ['the last commit that was checked has another hash', 'UPDATE commits SET hash = sha256(hash)'],
    [
      'the last commit that was checked is gone',
      'DELETE FROM commits WHERE id = (SELECT max(id) FROM commits)',
    ],
    [
      'a lane is behind the check, as after the restore of another backup',
      'UPDATE checked_lanes SET sealed_id = sealed_id + 9, last_id = last_id + 9',
    ],
    [
      'a lane is gone',
      'INSERT INTO checked_lanes SELECT 9, last_id, sealed_id, 0, commit_hash FROM checked_lanes',
    ],
    [
      'a gateway of an earlier version found a problem',
      "UPDATE book_checks SET number = 9, accounts = '{1}', open_problems = 1",
    ],
    ['such a gateway found one of all accounts', 'UPDATE book_checks SET number = 9, accounts = NULL'],
  ])('all rows are read if %s', async (_, change) => {
    const { node, edit } = await checkedBooks()
    await edit(change)

    expect((await node.ledger.verifyRecent()).isRecent).toBeUndefined()
  })

  test('a check that ends after another one found a problem does not hide it', async () => {
    const { sql, node } = await checkedBooks()
    const began = Promise.withResolvers<void>()
    const slow = node.ledger.verify(undefined, part => {
      if (part === 'commits') began.resolve()
    })
    await began.promise

    await sql`UPDATE checked_books SET is_sound = 0`
    const { problems } = await slow

    expect(problems).toEqual([])
    expect((await node.ledger.verifyRecent()).isRecent).toBeUndefined()
  })

  test('recent rows are checked without all rows while a stored result stops an account, and are not noted', async () => {
    const { sql, node, edit, payer } = await checkedBooks()
    await chargeText(node, payer)
    const change = (by: string) =>
      edit(
        `UPDATE operations SET balance_after_1 = balance_after_1 ${by} WHERE id = (SELECT max(id) FROM operations)`,
      )
    await change('+ 1')
    await sql`UPDATE book_checks SET number = 9, accounts = ARRAY[${payer.accountId}]::bigint[], open_problems = 1`

    const found = await node.ledger.verifyRecent({ isAllUnreadable: true })
    await change('- 1')
    const undone = await node.ledger.verifyRecent({ isAllUnreadable: true })
    await change('+ 1')
    const again = await node.ledger.verifyRecent({ isAllUnreadable: true })

    expect(found).toMatchObject({ affected: [payer.accountId], isRecent: true })
    expect(undone).toMatchObject({ problems: [], isRecent: true })
    expect(again.problems).toContainEqual(found.problems[0]!)
  })

  test('recent rows alone cannot be checked if the last full check found a problem', async () => {
    const { node, edit } = await checkedBooks()
    await edit('UPDATE balances SET cash = cash + 1')
    await node.ledger.verify()

    const outcome = await node.ledger.verifyRecent({ isAllUnreadable: true }).catch(String)

    expect(outcome).toBe('Error: No sound check is known.')
  })

  test('a role that may not note what was checked makes full checks, which say why', async () => {
    const { node, edit } = await checkedBooks()
    await edit('ALTER TABLE checked_tables RENAME TO missing; UPDATE checked_books SET is_sound = 0')

    const checks = [await node.ledger.verifyRecent(), await node.ledger.verifyRecent()]

    const full = { problems: [], affected: [], entries: 6, unnoted: expect.any(Error) }
    expect(checks).toEqual(checks.map(() => full))
  })
})

/**
 * Books that were checked while work was open, which ended since: the release of a media hold, a job, an attempt. "ada"
 * (account 1) has two charges before that and two after it.
 */
async function booksSince(): Promise<SQL> {
  const { sql, open, node, payer } = await checkedBooks()
  const held = await hold(node.ledger, { accountId: payer.accountId, kind: 'media', amount: usd('3') })
  const job = await jobIn('processing', node.jobs, aJob(payer))
  const attempt = anAttempt(payer)
  await node.attempts.record(attempt)
  await node.close()
  const other = await open('other')
  expect(await other.ledger.verifyRecent()).toMatchObject({ problems: [], isRecent: true })
  await other.ledger.releaseHold(held, NOW)
  await moveTo.completed(other.jobs, job.id)
  await other.attempts.bill(attempt, aBill())
  await other.ledger.compensate(attempt, NOW)
  for (let charges = 0; charges < 2; charges += 1) await chargeText(other, payer)
  await other.close()
  return sql
}

/** The charges of ada, the latest one first. */
const adasCharge = (back: number) => `(WITH RECURSIVE chain AS (
    SELECT latest_charge_id AS id, 0 AS back FROM balances WHERE account_id = 1
    UNION ALL SELECT previous_id, back + 1 FROM chain JOIN charges ON charges.id = chain.id
  ) SELECT id FROM chain WHERE back = ${back})`
const adasOperation = (back: number) =>
  `account_id = 1 AND number = (SELECT operation_count - ${back} FROM balances WHERE account_id = 1)`
/** A release, a capture, a charge and what gives it back, and two charges. */
const SINCE = { charges: 4, operations: 6 }

describe.skipIf(server === undefined)('a check of what was written and ended since the check before', () => {
  let books: SQL
  const closing: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    if (server === undefined) return
    books = await booksSince()
    closing.push(...ends.splice(0))
  })
  afterAll(async () => {
    for (const end of closing.toReversed()) await end()
  })

  test('finds nothing in books that nobody edited', async () => {
    const { all, recent } = await bothAfterEdits(books, [])

    expect(all.problems).toEqual([])
    expect(recent).toEqual({ ...all, isRecent: true })
  })

  test.each([
    [
      'a charge after one that another charge names',
      `UPDATE charges SET previous_id = ${adasCharge(SINCE.charges)} WHERE id = ${adasCharge(SINCE.charges - 2)}`,
      'as the one before it, which another charge names too',
    ],
    [
      'a charge after one that an earlier charge names',
      `UPDATE charges SET previous_id = ${adasCharge(SINCE.charges + 1)} WHERE id = ${adasCharge(0)}`,
      'as the one before it, which another charge names too',
    ],
    [
      'a first new charge after none',
      `UPDATE charges SET previous_id = NULL WHERE id = ${adasCharge(SINCE.charges - 1)}`,
      'names charge row null as the one before it, which another charge names too',
    ],
    [
      'a first new operation after another one',
      `UPDATE operations SET previous_id = previous_id - 1 WHERE ${adasOperation(SINCE.operations - 1)}`,
      'begins an operation that names operation',
    ],
    [
      'a balance after the first new operation',
      `UPDATE operations SET balance_after_1 = balance_after_1 + 1 WHERE ${adasOperation(SINCE.operations - 1)}`,
      'is correct',
    ],
    [
      'a first new operation that was deleted',
      `DELETE FROM operations WHERE ${adasOperation(SINCE.operations - 1)}`,
      'of the account, but operation',
    ],
    ['two balances', 'UPDATE balances SET cash = cash - 5, promotions = promotions + 5', '"promotions" is'],
    [
      'a hold that was released since',
      "UPDATE holds SET state = 'expired' WHERE state = 'released'",
      'is expired, but an operation of the kind "release" ended it',
    ],
    [
      'a job that was completed since',
      "UPDATE jobs SET cost = cost + 1 WHERE state = 'completed'",
      'but was charged',
    ],
    [
      'an attempt that was compensated since',
      "UPDATE attempts SET cost = cost + 1 WHERE state = 'compensated'",
      'but its usage costs',
    ],
    ['the usage of the day', 'UPDATE usage_days SET charges = charges + 1', 'but its charges add up to'],
    [
      'a commit',
      'DELETE FROM commits WHERE id = (SELECT min(id) FROM commits WHERE id > (SELECT min(sealed_id) FROM checked_lanes))',
      'is missing',
    ],
  ])('finds an edit of %s, with the id that a check of all rows gives it', async (_, edit, message) => {
    const { all, recent, again } = await bothAfterEdits(books, [edit])

    expect(recent.problems).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining(message) }),
    )
    expect(recent).toEqual({ ...all, isRecent: true })
    expect(again).toEqual(recent)
  })
})
