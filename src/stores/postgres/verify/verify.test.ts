import type { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { BlobElsewhereError } from '../../../gateway/ports/media/blobs.ts'
import { aJob, jobIn } from '../../../../test/support/job-builders.ts'
import {
  aBill,
  aCharge,
  aCredit,
  anAccount,
  anAttempt,
  anAudit,
  anId,
  anImagesCharge,
  changeLimits,
  hold,
  NOW,
} from '../../../../test/support/ledger-builders.ts'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../../test/support/postgres/a-node.ts'
import { bothAfterEdits } from '../../../../test/support/postgres/edited-books.ts'
import type { TestStore } from '../../../../test/support/test-store.ts'
import { usd } from '../../../domain/money.ts'
import type { Verification } from '../../../gateway/ports/ledger/ledger.ts'
import { connections } from '../database/database.ts'

const server = await runServer()
const ends: (() => Promise<void>)[] = []
/** The books that each test edits, in a transaction that is undone. */
let books: SQL

beforeAll(async () => {
  if (server === undefined) return
  const { open, reads } = await aStore()
  const nodes = [await open('one'), await open('other')] as const
  // The later check of recent rows then reads all that follows.
  await nodes[0].ledger.verify()
  await useBooks(nodes)
  for (const node of nodes) await node.close()
  books = reads
})

afterAll(async () => {
  for (const end of ends.splice(0)) await end()
})

async function aStore() {
  const url = await aDatabase(server!)
  const reads = connections({ url }).openReads()
  ends.push(() => reads.close())
  const clock = fakeClock()
  const open = async (name: string) => {
    const node = await aNode(url, name, clock)
    ends.unshift(() => node.close())
    return node
  }
  return { open, reads }
}

/**
 * "ada" (account 1) has limits, a top-up, seven charges of text on both nodes in turn, an attempt that timed out and
 * one that was compensated, and a job in each state. "ben" (account 2) has a grant, a charge, a debit and a refund of
 * the charge.
 */
async function useBooks([one, other]: readonly [TestStore, TestStore]) {
  const ada = await anAccount(one, { name: 'ada', publicId: 'acct_ada' })
  const ben = await anAccount(other, { name: 'ben', publicId: 'acct_ben' })
  const limits = { limits: { concurrent_requests: 9 }, budgets: { month: usd('100') } }
  await changeLimits(one, { accountId: ada.accountId, apiKeyId: undefined }, limits)
  await one.ledger.credit({ ...aCredit(ada.accountId), amount: usd('30') })
  await other.ledger.credit({ ...aCredit(ben.accountId), amount: usd('10'), source: 'promotions' })
  for (const node of [one, other, one, one, other, other]) await chargeText(node, ada)
  await chargeText(other, ben)
  await one.attempts.record(anAttempt(ada))
  const billed = anAttempt(ada)
  await one.attempts.record(billed)
  await one.attempts.bill(billed, aBill())
  await other.ledger.compensate(billed, NOW)
  await jobIn('processing', one.jobs, aJob(ada, { idempotency: { key: 'k', fingerprint: 'f' } }))
  await jobIn('completed', other.jobs, aJob(ada))
  await jobIn('failed', one.jobs, aJob(ada))
  const terms = { accountId: ben.accountId, amount: usd('3'), allowNegative: false, audit: anAudit() }
  await one.ledger.debit({ id: anId(), ...terms })
  const [own] = await one.ledger.usage(ben.accountId, { limit: 1 })
  await other.ledger.refund({ id: anId(), charge: own!.id, amount: usd('1'), audit: anAudit() })
  // The last batch of its lane.
  await chargeText(other, ada)
}

async function chargeText(
  { ledger }: TestStore,
  { accountId, apiKeyId }: Awaited<ReturnType<typeof anAccount>>,
) {
  const held = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
  await ledger.captureHold(held, aCharge(apiKeyId))
}

/** What is found after edits, and by a check of the rows that were written since the books were empty. */
const bothAfter = (...edits: readonly string[]) => bothAfterEdits(books, edits)

async function verifiedAfter(...edits: readonly string[]): Promise<Verification> {
  return (await bothAfter(...edits)).all
}

/** The charges of ada, in their order: the row that has none after it, and those before it. */
const ADA = `WITH RECURSIVE chain AS (
    SELECT latest_charge_id AS id, 0 AS back FROM balances WHERE account_id = 1
    UNION ALL SELECT previous_id, back + 1 FROM chain JOIN charges ON charges.id = chain.id
  )`
const adasCharge = (back: number) => `(${ADA} SELECT id FROM chain WHERE back = ${back})`

describe.skipIf(server === undefined)('verify on PostgreSQL', () => {
  test('files that other nodes have are counted, and are no problem', async () => {
    const { open } = await aStore()
    const node = await open('one')
    // It has three files.
    await jobIn('completed', node.jobs, aJob(await anAccount(node, { funds: usd('10') })))

    const elsewhere = { damageOf: () => Promise.reject(new BlobElsewhereError()) }

    expect(await node.ledger.verify(elsewhere)).toMatchObject({ problems: [], filesElsewhere: 3 })
  })

  test('verify on PostgreSQL finds nothing in books that two nodes used in every way, and counts their entries', async () => {
    const { problems, affected, entries } = await verifiedAfter()

    expect([problems, affected]).toEqual([[], []])
    const [counted] = await books<{ count: bigint }[]>`
      SELECT sum(CASE WHEN book_3 IS NULL THEN 2 ELSE 3 END)::bigint AS count FROM operations`
    expect(BigInt(entries)).toBe(counted!.count)
  })

  test.each([
    [
      'a changed entry',
      "UPDATE operations SET balance_after_2 = balance_after_2 + 1 WHERE kind = 'top_up'",
      'USD is correct',
    ],
    [
      'a deleted operation',
      'DELETE FROM operations WHERE account_id = 2 AND number = 2',
      'begins operation 3 of the account, but operation 2 is next',
    ],
    [
      'an operation without its hold',
      "UPDATE operations SET subject_tail = 9 WHERE kind = 'release'",
      'begins a release operation, but its hold is missing',
    ],
    [
      'a changed cost of a charge',
      `UPDATE charges SET cost = cost + 1 WHERE id = ${adasCharge(1)}`,
      'but its usage costs',
    ],
    [
      'a charge with the key of another account',
      `UPDATE charges SET api_key_id = 2 WHERE id = ${adasCharge(1)}`,
      'has API key 2, which the account does not have',
    ],
    [
      'a deleted newest charge',
      `DELETE FROM charges WHERE id = ${adasCharge(0)}`,
      'wrote into "charges" is missing',
    ],
    [
      'a deleted charge',
      `DELETE FROM charges WHERE id = ${adasCharge(2)}`,
      'as the one before it, which the account does not have',
    ],
    [
      'a charge beside another one',
      `UPDATE charges SET previous_id = ${adasCharge(3)} WHERE id = ${adasCharge(1)}`,
      'as the one before it, which another charge names too',
    ],
    [
      'a second first charge',
      `UPDATE charges SET previous_id = NULL WHERE id = ${adasCharge(1)}`,
      'names charge row null as the one before it, which another charge names too',
    ],
    [
      'a charge after itself',
      `UPDATE charges SET previous_id = id WHERE id = ${adasCharge(1)}`,
      'as the one before it, which the account does not have',
    ],
    [
      'another latest charge in the balances',
      `UPDATE balances SET latest_charge_id = ${adasCharge(1)} WHERE account_id = 1`,
      'its latest charge is',
    ],
    [
      'a changed balance',
      'UPDATE balances SET available = available + 1 WHERE account_id = 2',
      'Account "ben" (acct_ben): balance is',
    ],
    ['deleted balances', 'DELETE FROM balances WHERE account_id = 2', '(acct_ben): its balances are missing'],
    [
      'a deleted account',
      'DELETE FROM accounts WHERE id = 2',
      'Account 2 (deleted): the account is missing, but it has',
    ],
    [
      'a changed reserve for text',
      'UPDATE balances SET reserved = reserved + 1 WHERE account_id = 2',
      'its reserve for text is 0.000000001 USD, but its open text holds add up to 0.00 USD',
    ],
    [
      'an inserted text hold',
      'INSERT INTO text_holds VALUES (1, 1, 2, 5, 1, 1)',
      'its reserve for text is 0.00 USD, but its open text holds add up to 0.000000005 USD',
    ],
    [
      'a hold that was ended by hand',
      "UPDATE holds SET state = 'released', resolved_at_ms = 1 WHERE state = 'open'",
      'is released, but no operation ended it',
    ],
    [
      'a job that was ended by hand',
      "UPDATE jobs SET state = 'failed', failure_reason = 'overdue' WHERE state = 'processing'",
      '(acct_ada): job img_',
    ],
    ['a deleted idempotency key', 'DELETE FROM job_keys', 'the row of its idempotency key is missing'],
    [
      'another request of an idempotency key',
      "UPDATE job_keys SET fingerprint = 'g'",
      'has another request than its job was created with',
    ],
    [
      'a changed cost of an attempt',
      "UPDATE attempts SET cost = cost + 1 WHERE state = 'compensated'",
      'but its usage costs',
    ],
    [
      'a changed refund',
      'UPDATE corrections SET amount = amount * 9',
      'but the refunds of that charge add up to 9.00 USD',
    ],
    [
      'a changed cost of a day',
      'UPDATE usage_days SET cost = cost + 1000000000 WHERE account_id = 2',
      'the usage of 2027-01-15 (key 2, model gpt-x, provider main) costs 2.00 USD, but its charges add up to 1.00 USD',
    ],
    [
      'a changed first charge of a day',
      'UPDATE usage_days SET first_charge_id = 1 WHERE account_id = 1',
      'names charge rows 1 and',
    ],
    ['a deleted day', 'DELETE FROM usage_days WHERE account_id = 2', 'provider main) is missing'],
    [
      'a day that was moved',
      'UPDATE usage_days SET day = day - 9 WHERE account_id = 2',
      'is stored, but there are no charges',
    ],
    [
      'a suspended account',
      'UPDATE accounts SET suspended_at_ms = 5 WHERE id = 2',
      'it is suspended, but the audit log',
    ],
    [
      'a revoked key',
      'UPDATE api_keys SET revoked_at_ms = 5 WHERE account_id = 2',
      'is revoked, but the audit log says otherwise',
    ],
    [
      'limits that nobody made',
      `INSERT INTO limits (account_id, kind, scope_id, model, terms)
        VALUES (2, 'account', 2, '', '{"limits":{"requests_per_minute":5}}')`,
      '(acct_ben): its limits are not those that the audit log says',
    ],
    [
      'a wrong count of open requests',
      'UPDATE limits SET running = running + 1',
      'its count of open requests and jobs is 2, but 1 are open. The count was corrected.',
    ],
    [
      'a wrong reserve of a budget',
      'UPDATE limits SET reserved_text = 1000000000',
      'its reserve for text counted 1.00 USD, but the open holds are 0.00 USD',
    ],
    [
      'a wrong sum of a budget',
      'UPDATE limits SET month_spent = 0',
      'its month budget counted 0.00 USD, but the charges are',
    ],
    [
      'an inserted model',
      "INSERT INTO models VALUES ('m', 1, '{}', 1)",
      'Model "m" is not what the history of the catalog says',
    ],
    [
      'a changed audit line',
      "UPDATE audit_log SET actor = 'nobody' WHERE id = 1",
      'Audit line 1 (test.change of something) was changed after commit',
    ],
    [
      'a changed charge of a batch',
      `UPDATE charges SET route = 'other' WHERE id = ${adasCharge(4)}`,
      'was changed after commit',
    ],
    ['a deleted tariff', 'DELETE FROM tariffs', 'wrote into "tariffs" is missing'],
    ['a deleted commit', 'DELETE FROM commits WHERE number = 2', 'Commit 2 of node "lane-1" is missing'],
    [
      'the end of the commits of a lane, deleted with its rows',
      `DELETE FROM commits WHERE id = (SELECT max(id) FROM commits);
        DELETE FROM audit_log WHERE commit_id NOT IN (SELECT id FROM commits)`,
      'but the node wrote another one as commit',
    ],
    [
      'an inserted audit line of no commit',
      "INSERT INTO audit_log (actor, action, subject, at_ms, commit_id) VALUES ('a', 'b', 'c', 1, 77)",
      '(b of c) was inserted: it names commit row 77, which did not write it',
    ],
    [
      'a tariff after the last row of a lane',
      "INSERT INTO tariffs SELECT last_id + 2, '{}', last_id + 1 FROM lanes WHERE number = 1",
      'was inserted: it names commit row',
    ],
    [
      'a charge after the last row of a lane',
      `INSERT INTO charges SELECT * FROM jsonb_populate_record(NULL::charges, (
        SELECT to_jsonb(charges) || jsonb_build_object('id', last_id + 2, 'commit_id', last_id + 1, 'id_tail', 9)
          FROM charges, lanes WHERE number = 1 LIMIT 1))`,
      'was inserted: it names commit row',
    ],
  ])('verify on PostgreSQL finds %s, and so does a check of recent rows', async (_, edit, message) => {
    const { all, recent } = await bothAfter(...edit.split(';'))

    expect(all.problems).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining(message) }),
    )
    // It does not look at days that have no new charges, such as one that a row was moved to.
    const expected = all.problems.filter(one => !one.message.includes('usage of 2027-01-06'))
    expect(recent).toEqual({ ...all, problems: expected, isRecent: true })
  })

  test('verify on PostgreSQL finds nothing in the last batch of a lane, whose commit is not stored yet', async () => {
    const lastBatch = '(SELECT max(id) FROM commits)'

    const { problems } = await verifiedAfter(
      `UPDATE lanes SET sealed_id = ${lastBatch} - 1, commit_number = commit_number - 1 WHERE number = 2`,
      `DELETE FROM commits WHERE id = ${lastBatch}`,
      `UPDATE lanes SET commit_hash = hash FROM commits
        WHERE lanes.number = 2 AND commits.id = (SELECT max(id) FROM commits)`,
    )

    expect(problems).toEqual([])
  })

  test('verify on PostgreSQL marks a problem that the operator accepted', async () => {
    const edit = 'UPDATE usage_days SET cost = cost + 1 WHERE account_id = 2'
    const { problems: found } = await verifiedAfter(edit)

    const { problems, affected } = await verifiedAfter(
      edit,
      `INSERT INTO audit_log (actor, action, subject, at_ms, commit_id)
        VALUES ('operator', 'books.accept', '${found[0]!.id}', 1, 77)`,
    )

    expect(problems[0]).toEqual({ ...found[0]!, isAccepted: true })
    // No step wrote the line itself.
    const [line, ...others] = problems.slice(1)
    expect([line?.accountId, others, affected]).toEqual([null, [], 'everything'])
  })

  test('verify on PostgreSQL corrects a wrong count of a limit, which stops nothing', async () => {
    const { open, reads } = await aStore()
    const node = await open('one')
    const { accountId } = await anAccount(node)
    await changeLimits(node, { accountId, apiKeyId: undefined }, { limits: { concurrent_requests: 1 } })
    await reads`UPDATE limits SET running = 1`

    const [wrong, corrected] = [await node.ledger.verify(), await node.ledger.verify()]

    expect(wrong).toMatchObject({ problems: [{ accountId, stopsNothing: true }], affected: [] })
    expect(corrected).toMatchObject({ problems: [], affected: [] })
  })

  test('verify on PostgreSQL finds nothing while two nodes write', async () => {
    const { open } = await aStore()
    const nodes = [await open('one'), await open('other')]
    const payers = [await anAccount(nodes[0]!), await anAccount(nodes[1]!)]
    for (const { accountId } of payers)
      await changeLimits(nodes[0]!, { accountId, apiKeyId: undefined }, { budgets: { day: usd('9000') } })
    for (const { accountId } of payers)
      await nodes[0]!.ledger.credit({ ...aCredit(accountId), amount: usd('9000') })
    const verified = new AbortController()
    const spend = async (index: number) => {
      const { ledger } = nodes[index % 2]!
      const payer = payers[index % 3 === 0 ? 0 : 1]!
      while (!verified.signal.aborted) {
        await chargeText(nodes[index % 2]!, payer)
        const held = await hold(ledger, { accountId: payer.accountId, kind: 'media', amount: usd('3') })
        await ledger.captureHold(held, anImagesCharge(payer.apiKeyId))
      }
    }
    const spending = Array.from({ length: 12 }, (_, index) => spend(index))
    const rounds = [await nodes[0]!.ledger.verify()]
    const recent: Verification[] = []

    while (rounds.at(-1)!.entries < rounds[0]!.entries + 200) {
      recent.push(await nodes[0]!.ledger.verifyRecent())
      rounds.push(await nodes[1]!.ledger.verify())
    }
    verified.abort()
    await Promise.all(spending)
    rounds.push(await nodes[0]!.ledger.verify())

    expect([...rounds, ...recent].flatMap(({ problems }) => problems)).toEqual([])
    expect(recent.every(({ isRecent }) => isRecent)).toBe(true)
  })
})
