import { describe, expect, test } from 'bun:test'
import { aCharge, aCredit, anAccount, anAudit, hold } from '../../../../test/support/ledger-builders.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { usd } from '../../../domain/money.ts'

/** "ada" (account 1) and "ben" (account 2) have a credit and a charge each. */
async function twoAccounts() {
  const store = aSqliteStore()
  const payers = []
  for (const name of ['ada', 'ben']) {
    const payer = await anAccount(store, { name, funds: usd('9') })
    const held = await hold(store.ledger, { accountId: payer.accountId, kind: 'text', amount: usd('1') })
    await store.ledger.captureHold(held, aCharge(payer.apiKeyId))
    payers.push(payer)
  }
  return { store, ada: payers[0]!, ben: payers[1]! }
}

describe('a check', () => {
  test.each<[string, string, 'everything' | readonly number[]]>([
    ['nothing', 'SELECT 1', []],
    ['a stored balance', 'UPDATE balances SET available = 5 WHERE account_id = 2', [2]],
    ['an entry', 'UPDATE operations SET balance_after_1 = 5 WHERE id = 2', [1]],
    ['a charge that breaks no other rule', "UPDATE charges SET model = 'x' WHERE id = 2", [2]],
    [
      'an inserted key',
      "INSERT INTO api_keys (id, public_id, account_id, name, hash, prefix, created_at_ms, commit_id) SELECT 9, 'k', 1, name, zeroblob(32), prefix, 1, 9 FROM api_keys LIMIT 1",
      [1],
    ],
    ['both accounts', 'UPDATE balances SET losses = 1', [1, 2]],
    ['a missing charge', 'DELETE FROM charges WHERE id = 2', 'everything'],
    ['the hash of a commit', 'UPDATE commits SET hash = zeroblob(32) WHERE id = 2', 'everything'],
    ['a missing commit', 'DELETE FROM commits WHERE id = 2', 'everything'],
    ['an audit line', "UPDATE audit_log SET actor = 'x' WHERE id = 2", 'everything'],
  ])('a check names whose books are wrong after an edit of %s', async (_, edit, affected) => {
    const { store } = await twoAccounts()
    tamper(store, edit)

    expect((await store.ledger.verify()).affected).toEqual(affected)
  })

  test('a check names an account beyond the hundredth problem', async () => {
    const { store, ada, ben } = await twoAccounts()
    for (let made = 0; made < 110; made += 1) {
      const held = await hold(store.ledger, { accountId: ada.accountId, kind: 'text', amount: usd('0') })
      await store.ledger.captureHold(held, aCharge(ada.apiKeyId, { tokens: 0 }))
    }
    tamper(
      store,
      `UPDATE charges SET input = 5 WHERE account_id = ${ada.accountId};
      UPDATE balances SET losses = 1 WHERE account_id = ${ben.accountId}`,
    )

    const { problems, affected } = await store.ledger.verify()

    expect(problems.every(({ accountId }) => accountId === ada.accountId)).toBe(true)
    expect(affected).toEqual([ada.accountId, ben.accountId])
  })

  test('a check gives a problem the same id although later operations change its amounts', async () => {
    const { store, ada } = await twoAccounts()
    tamper(store, 'UPDATE balances SET available = available + 5 WHERE account_id = 1')
    const path = store.database.filename
    await store.close()
    const reopened = aSqliteStore(path)
    const before = await reopened.ledger.verify()

    await reopened.ledger.credit({ ...aCredit(ada.accountId), amount: usd('1') })
    const after = await reopened.ledger.verify()

    expect(after.problems.map(({ id }) => id)).toContain(before.problems[0]!.id)
    expect(before.problems[0]!.id).toMatch(/^p_[0-9a-f]{12}$/)
  })

  test('a check reports an accepted problem without naming its account, and another one of the account again', async () => {
    const { store } = await twoAccounts()
    tamper(store, 'UPDATE balances SET losses = 1 WHERE account_id = 1')
    const [problem] = (await store.ledger.verify()).problems

    await store.auditLog.record(anAudit({ action: 'books.accept', subject: problem!.id }))
    const accepted = await store.ledger.verify()
    tamper(store, 'UPDATE balances SET losses = 2 WHERE account_id = 1')
    const again = await store.ledger.verify()

    expect(accepted).toMatchObject({ problems: [{ id: problem!.id, isAccepted: true }], affected: [] })
    expect(again).toMatchObject({ problems: [{ isAccepted: false }], affected: [1] })
  })
})
