import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aCharge, aCredit, anAccount, hold } from '../../../../test/support/ledger-builders.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore, nodeSettings } from '../../../../test/support/test-store.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import { usd } from '../../../domain/money.ts'

/**
 * Commits 1 and 2 of node "main" have an account and its key, 3 a credit, 4 a charge with its tariff, 5 three charges
 * in one transaction, the second one free, and 6 a charge. Commit 1 of node "other" has a credit.
 */
async function committedBooks() {
  const store = aSqliteStore()
  const { accountId, apiKeyId } = await anAccount(store, { funds: usd('9'), name: 'ada' })
  const other = store.openNode(nodeSettings('other', fakeClock()))
  const charges: Id[] = []
  const charge = async (tokens: number) => {
    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('1') })
    charges.push(held.id)
    await store.ledger.captureHold(held, aCharge(apiKeyId, { tokens }))
  }
  await charge(1)
  await Promise.all([charge(1), charge(0), charge(1)])
  await charge(1)
  await other.ledger.credit({ ...aCredit(accountId), amount: usd('2'), note: 'hello', idempotencyKey: 'a' })
  return { store, accountId, charges }
}

async function problemsAfter(tampering: string) {
  const { store, charges } = await committedBooks()
  tamper(store, tampering)
  const { problems } = await store.ledger.verify()
  return { messages: problems.map(({ message }) => message), charges }
}

describe('verify', () => {
  test('verify finds no problem in the commits of two nodes', async () => {
    const { store } = await committedBooks()

    const commits = store.database
      .query<{ name: string; number: bigint }, []>(
        'SELECT name, number FROM commits JOIN nodes ON nodes.id = node_id ORDER BY commits.id',
      )
      .all()

    expect(commits.map(({ name, number }) => `${name} ${number}`)).toEqual([
      'main 1',
      'main 2',
      'main 3',
      'main 4',
      'main 5',
      'main 6',
      'other 1',
    ])
    expect((await store.ledger.verify()).problems).toEqual([])
  })

  test.each([
    ["UPDATE charges SET route = 'x' WHERE id = 1", 0, '1.00 USD was changed after commit 4 of node "main"'],
    [
      "UPDATE charges SET service_tier = 'x' WHERE id = 2",
      1,
      '1.00 USD was changed after commit 5 of node "main"',
    ],
    ["UPDATE charges SET route = 'x' WHERE id = 3", 2, '0.00 USD was changed after commit 5 of node "main"'],
    ["UPDATE charges SET provenance = 'estimated' WHERE id = 4", 3, 'was changed after commit 5'],
    ['UPDATE charges SET is_clamped = 1 WHERE id = 5', 4, 'was changed after commit 6'],
    ['UPDATE charges SET shortfall = 1 WHERE id = 5', 4, 'was changed after commit 6'],
  ])('verify reports a changed charge that breaks no other rule: %s', async (tampering, at, message) => {
    const { messages, charges } = await problemsAfter(tampering)

    expect(messages).toHaveLength(1)
    expect(messages[0]).toStartWith('Account "ada" (acct_')
    expect(messages[0]).toContain(
      `charge ${formatId('req', charges[at]!)} of ${message.startsWith('was') ? '' : ''}`,
    )
    expect(messages[0]).toContain(message)
  })

  test.each([
    [
      "UPDATE credits SET note = 'bye' WHERE id = 2",
      'of 2.00 USD was changed after commit 1 of node "other"',
    ],
    ["UPDATE credits SET idempotency_key = 'b' WHERE id = 2", 'was changed after commit 1 of node "other"'],
    ['UPDATE credits SET available_after = 1 WHERE id = 2', 'was changed after commit 1 of node "other"'],
    [
      "UPDATE tariffs SET content = content || ' '",
      'Tariff 1 was changed after commit 4 of node "main" wrote it.',
    ],
    [
      'UPDATE operations SET at_ms = 5 WHERE id = 2; UPDATE charges SET at_ms = 5 WHERE id = 1',
      'operation 2 (charge) was changed after commit 4 of node "main" wrote it.',
    ],
    [
      `INSERT INTO charges SELECT 6, id_key, 77, account_id, 5, NULL, api_key_id, route, model, provider, 0, 0, 0, 0, 0, 0, 0,
        provenance, is_clamped, tariff_id, 0, 0, at_ms, NULL, NULL, commit_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM charges WHERE id = 5;
        UPDATE balances SET latest_charge_id = 6`,
      'of 0.00 USD was inserted: commit 6 of node "main" did not write it.',
    ],
    [
      `INSERT INTO charges SELECT 6, id_key, 77, account_id, 5, NULL, api_key_id, route, model, provider, 0, 0, 0, 0, 0, 0, 0,
        provenance, is_clamped, tariff_id, 0, 0, at_ms, NULL, NULL, 99, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM charges WHERE id = 5;
        UPDATE balances SET latest_charge_id = 6`,
      'of 0.00 USD was inserted: it names commit row 99, which did not write it.',
    ],
    [
      `INSERT INTO tariffs VALUES (-3, '{}', 0)`,
      'Tariff -3 was inserted: it names commit row 0, which did not write it.',
    ],
    [
      'DELETE FROM charges WHERE id = 3; UPDATE charges SET previous_id = 2 WHERE id = 4',
      'A row that commit 5 of node "main" wrote into "charges" is missing.',
    ],
    [
      'DELETE FROM charges WHERE id = 3',
      'wrote into "charges" is missing. The missing row was before this one: Account "ada"',
    ],
    [
      `DELETE FROM charges WHERE id = 5; DELETE FROM operations WHERE id = 5; UPDATE operations SET number = 5, previous_id = 4,
        balance_after_1 = balance_after_1, balance_after_2 = balance_after_2 WHERE id = 6`,
      'A row that commit 6 of node "main" wrote into "charges" is missing.',
    ],
    ['DELETE FROM commits WHERE id = 5', 'Commit 5 of node "main" is missing.'],
    [
      'UPDATE commits SET hash = zeroblob(32) WHERE id = 4',
      'The hash of commit 4 of node "main" does not fit',
    ],
    ['UPDATE commits SET number = 9 WHERE id = 6', 'Commit 6 of node "main" is missing.'],
    [
      "UPDATE nodes SET name = 'another' WHERE name = 'other'",
      'The hash of commit 1 of node "another" does not fit its rows and the commit before it.',
    ],
    [
      'UPDATE commits SET checksums = zeroblob(length(checksums)) WHERE id = 4',
      'The checksums of commit 4 of node "main" were changed; its rows were not.',
    ],
  ])('verify reports %s', async (tampering, message) => {
    const { messages } = await problemsAfter(tampering)

    expect(messages).toContainEqual(expect.stringContaining(message))
  })

  test('verify reports a deleted charge of zero cost although the chain was made to fit', async () => {
    const { store } = await committedBooks()
    const before = await store.ledger.verify()
    tamper(store, `DELETE FROM charges WHERE id = 3; UPDATE charges SET previous_id = 2 WHERE id = 4`)

    const { problems } = await store.ledger.verify()

    expect(before.problems).toEqual([])
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('has 5 charges, but its charges add up to 4.'),
      expect.stringContaining('was changed after commit 5 of node "main" wrote it.'),
      'A row that commit 5 of node "main" wrote into "charges" is missing.',
    ])
  })

  test.each(['\u0000', 'a\u0000b', '\ud800', '👍 é', ''])(
    'verify finds no problem in a note of %j',
    async note => {
      const { store, accountId } = await committedBooks()

      await store.ledger.credit({ ...aCredit(accountId), amount: usd('1'), note })

      expect((await store.ledger.verify()).problems).toEqual([])
    },
  )

  test('verify continues the chain of a node after a restart', async () => {
    const { store } = await committedBooks()
    const path = store.database.filename
    await store.close()
    const reopened = aSqliteStore(path)
    const { accountId } = await anAccount(reopened, { funds: usd('1') })

    await reopened.ledger.credit({ ...aCredit(accountId), amount: usd('1') })

    const numbers = reopened.database
      .query<{ number: bigint }, []>('SELECT number FROM commits WHERE node_id = 1 ORDER BY id')
      .all()
    expect(numbers.map(({ number }) => Number(number))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect((await reopened.ledger.verify()).problems).toEqual([])
  })
})
