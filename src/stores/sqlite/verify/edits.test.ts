import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { aJob, jobIn } from '../../../../test/support/job-builders.ts'
import {
  aBill,
  aCharge,
  aCredit,
  anAccount,
  anAttempt,
  anAudit,
  anId,
  hold,
  NOW,
} from '../../../../test/support/ledger-builders.ts'
import { tamperFile } from '../../../../test/support/tamper.ts'
import { aSqliteStore, type TestSqlite } from '../../../../test/support/test-store.ts'
import { usd } from '../../../domain/money.ts'
import { NO_USAGE, type Usage } from '../../../domain/pricing/usage.ts'

/** The file of the books that each test edits a copy of. */
let original: string

beforeAll(async () => {
  original = join(aDataFolder(), 'tollgate.db')
  const store = aSqliteStore(original)
  await useBooks(store)
  await store.close()
})

/**
 * "ada" (account 1) has a top-up, charges 1 (paid), 2 (free), 4 (of a late answer) and 6 (paid, her newest), attempts 1
 * (abandoned), 2 (timed out) and 3 (compensated), and jobs 1 (processing), 2 (completed, charge 5), 3 (failed) and 4
 * (finished late). "ben" (account 2) has a grant, charge 3, a debit and a refund of the charge. "cy" (account 3) has a
 * key and nothing else.
 */
async function useBooks(store: TestSqlite) {
  const { ledger, attempts, jobs } = store
  const ada = await anAccount(store, { name: 'ada', publicId: 'acct_ada' })
  const ben = await anAccount(store, { name: 'ben', publicId: 'acct_ben' })
  await anAccount(store, { name: 'cy', publicId: 'acct_cy' })
  const topUp = { ...aCredit(ada.accountId), amount: usd('30'), note: 'hello', idempotencyKey: 'code-1' }
  await ledger.credit(topUp)
  await ledger.credit({ ...aCredit(ben.accountId), amount: usd('10'), source: 'promotions' })
  await charge(store, ada, 1)
  await charge(store, ada, 0)
  await charge(store, ben, 2, { serverToolUses: 1 })
  const { usage } = aBill()
  await attempts.record({ ...anAttempt(ada), state: 'abandoned', usage, providerCost: usd('0.5') })
  await attempts.record(anAttempt(ada))
  const billed = anAttempt(ada)
  await attempts.record(billed)
  await attempts.bill(billed, aBill())
  await ledger.compensate(billed, NOW)
  for (const state of ['processing', 'completed', 'failed'] as const) await jobIn(state, jobs, aJob(ada))
  const late = await jobIn('unknown_submit', jobs, aJob(ada))
  await jobs.fail(late.id, { reason: 'submit_unconfirmed', message: 'Gone.', atMs: NOW + 1 })
  await jobs.bookLateCompletion(late.id, { cost: usd('2'), atMs: NOW + 2 })
  await charge(store, ada, 1)
  await ledger.debit({
    id: anId(),
    accountId: ben.accountId,
    amount: usd('3'),
    allowNegative: false,
    note: 'paid twice',
    audit: anAudit(),
  })
  const [own] = await ledger.usage(ben.accountId, { limit: 1 })
  await ledger.refund({
    id: anId(),
    charge: own!.id,
    amount: usd('1'),
    idempotencyKey: 'fix-1',
    audit: anAudit(),
  })
}

async function charge(
  store: TestSqlite,
  payer: Awaited<ReturnType<typeof anAccount>>,
  tokens: number,
  more: Partial<Usage> = {},
) {
  const { accountId, apiKeyId } = payer
  const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('3') })
  await store.ledger.captureHold(held, aCharge(apiKeyId, { usage: { ...NO_USAGE, input: tokens, ...more } }))
}

async function messagesAfter(edit: string): Promise<readonly string[]> {
  const path = join(aDataFolder(), 'tollgate.db')
  copyFileSync(original, path)
  tamperFile(path, edit)
  const store = aSqliteStore(path)
  const { problems } = await store.ledger.verify()
  await store.close()
  return problems.map(({ message }) => message)
}

const CHARGE = 'Account "ada" (acct_ada): charge req_'
const FREE_CHARGE = `SELECT max(id) + 1, id_key, 77, account_id, max(id), NULL, api_key_id, route, model, provider, 0, 0, 0, 0, 0, 0, 0,
  provenance, is_clamped, NULL, 0, 0, at_ms, NULL, NULL, commit_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM charges`

describe('verify finds, in a file that another program edited,', () => {
  test('verify finds, in a file that another program edited, nothing if nothing was edited', async () => {
    expect(await messagesAfter('SELECT 1')).toEqual([])
  })

  test.each([
    ['a deleted balances row', 'DELETE FROM balances WHERE account_id = 2', '"ben" (acct_ben): its balances'],
    [
      'a deleted account row',
      'DELETE FROM accounts WHERE id = 2',
      'Account 2 (deleted): the account is missing',
    ],
    [
      'a deleted account row without any operation',
      'DELETE FROM accounts WHERE id = 3; DELETE FROM balances WHERE account_id = 3',
      'wrote into "accounts" is missing',
    ],
    [
      'a changed cost of a day',
      'UPDATE usage_days SET cost = cost + 1000000000 WHERE account_id = 2',
      'Account "ben" (acct_ben): the usage of 2027-01-15 (key 2, model gpt-x, provider main) costs 3.00 USD, but its charges add up to 2.00 USD',
    ],
    [
      'a changed number of tokens of a day',
      'UPDATE usage_days SET input_tokens = 9 WHERE account_id = 2',
      'of 2027-01-15 (key 2, model gpt-x, provider main) has 9 input tokens, but its charges add up to 2',
    ],
    [
      'a changed first charge of a day',
      'UPDATE usage_days SET first_charge_id = 1 WHERE account_id = 2',
      'names charge rows 1 and 3 as its first and latest, but those are 3 and 3',
    ],
    [
      'a deleted day',
      'DELETE FROM usage_days WHERE account_id = 2',
      'the usage of 2027-01-15 (key 2, model gpt-x, provider main) is missing',
    ],
    [
      'a day moved to another date',
      'UPDATE usage_days SET day = day - 9 WHERE account_id = 2',
      'of 2027-01-06 (key 2, model gpt-x, provider main) is stored, but there are no charges',
    ],
    [
      'a day of an account without charges',
      `INSERT INTO usage_days SELECT day, 3, 2, 'gpt-x', 'main', 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1 FROM usage_days
        WHERE account_id = 2`,
      'Account "cy" (acct_cy): the usage of 2027-01-15 (key 2, model gpt-x, provider main) is stored, but there are no',
    ],
    [
      'a day moved to another key',
      'UPDATE usage_days SET api_key_id = 1 WHERE account_id = 2',
      'of 2027-01-15 (key 1, model gpt-x, provider main) is stored, but there are no charges',
    ],
    [
      'a day that says that its charges were credited back',
      'UPDATE usage_days SET compensated = cost WHERE account_id = 2',
      'has 2.00 USD of compensated charges, but those add up to 0.00 USD',
    ],
    [
      'a day with another cost of its provider',
      'UPDATE usage_days SET provider_cost = 1000000000 WHERE account_id = 2',
      'has 1.00 USD of provider costs, but those of its charges add up to 0.00 USD',
    ],
    [
      'a day that hides that a cost is not known',
      'UPDATE usage_days SET charges_without_cost = 0 WHERE account_id = 2',
      'has 0 charges without a provider cost, but there are 1',
    ],
    ['a deleted operation row', 'DELETE FROM operations WHERE id = 1', 'wrote into "operations" is missing'],
    ['a deleted charge row', 'DELETE FROM charges WHERE id = 1', 'wrote into "charges" is missing'],
    [
      'a deleted charge row of zero cost',
      'DELETE FROM charges WHERE id = 2; UPDATE charges SET previous_id = 1 WHERE id = 4',
      'wrote into "charges" is missing',
    ],
    ['a deleted abandoned attempt', 'DELETE FROM attempts WHERE id = 1', 'wrote into "attempts" is missing'],
    ['a deleted timed-out attempt', 'DELETE FROM attempts WHERE id = 2', 'wrote into "attempts" is missing'],
    ['a deleted compensated attempt', 'DELETE FROM attempts WHERE id = 3', 'its attempt is missing'],
    [
      'an inserted charge of zero cost',
      `INSERT INTO charges ${FREE_CHARGE} WHERE account_id = 1; UPDATE balances SET latest_charge_id = 7 WHERE account_id = 1`,
      'of 0.00 USD was inserted',
    ],
    [
      'an inserted charge with a cost',
      `INSERT INTO charges SELECT 7, id_key, 77, account_id, 6, 3, api_key_id, route, model, provider, 1, 0, 0, 0, 0, 0, 0,
        provenance, 0, tariff_id, cost, 0, at_ms, NULL, NULL, commit_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM charges WHERE id = 1`,
      'of 1.00 USD was inserted',
    ],
    [
      'a charge moved to another account',
      'UPDATE charges SET account_id = 2 WHERE id = 2',
      'acct_ben): charge req_',
    ],
    [
      'a key moved to another account',
      'UPDATE api_keys SET account_id = 2 WHERE id = 1',
      'has API key 1, which',
    ],
    [
      'an unused key moved to another account',
      'UPDATE api_keys SET account_id = 1 WHERE id = 3',
      'Account "ada" (acct_ada): API key key_',
    ],
    [
      'a renamed account',
      "UPDATE accounts SET name = 'eve' WHERE id = 3",
      'Account "eve" (acct_cy) was changed after',
    ],
    [
      'a broken charge chain',
      'UPDATE charges SET previous_id = 1 WHERE id = 6',
      'names charge row 1 as the one before',
    ],
    [
      'a changed stored balance',
      'UPDATE balances SET available = available + 5 WHERE account_id = 2',
      'Account "ben" (acct_ben): balance is 6.000000005 USD, but its entries add up to 6.00 USD.',
    ],
    [
      'changed losses',
      'UPDATE balances SET losses = 0 WHERE account_id = 1',
      '"losses" is 0.00 USD, but its entries',
    ],
    [
      'a changed sum of booked losses',
      'UPDATE balances SET booked_losses = 0 WHERE account_id = 1',
      'its booked losses are 0.00 USD, but its loss operations add up to 2.00 USD',
    ],
    ['a changed cost', 'UPDATE charges SET cost = 5 WHERE id = 1', 'but its charge is 0.000000005 USD'],
    [
      'a changed shortfall',
      'UPDATE charges SET shortfall = 1 WHERE id = 1',
      'of 1.00 USD was changed after commit',
    ],
    ['a changed provenance', "UPDATE charges SET provenance = 'estimated' WHERE id = 1", CHARGE],
    ['tags of a charge that had none', "UPDATE charges SET tags = 'team=b' WHERE id = 1", CHARGE],
    ['a user of a charge that had none', "UPDATE charges SET user_id = 'b' WHERE id = 1", CHARGE],
    ['a changed clamped flag', 'UPDATE charges SET is_clamped = 1 WHERE id = 1', CHARGE],
    [
      'an added search',
      'UPDATE charges SET search_calls = 1 WHERE id = 1',
      'of 1.00 USD was changed after commit',
    ],
    [
      'an added service tier',
      "UPDATE charges SET service_tier = 'priority' WHERE id = 1",
      'of 1.00 USD was changed after commit',
    ],
    [
      'an added count of zero',
      'UPDATE charges SET server_tool_uses = 0 WHERE id = 1',
      'of 1.00 USD was changed after commit',
    ],
    [
      'a removed count that costs nothing',
      'UPDATE charges SET cache_write_1h = NULL, server_tool_uses = NULL WHERE id = 3',
      'Account "ben" (acct_ben): charge req_',
    ],
    ['another tariff', 'UPDATE charges SET tariff_id = 2 WHERE id = 1', CHARGE],
    [
      'a changed tariff',
      "UPDATE tariffs SET content = '{}' WHERE id = 1",
      'Tariff 1 was changed after commit',
    ],
    [
      'a changed model',
      "UPDATE charges SET model = 'x' WHERE id = 1",
      'of 1.00 USD was changed after commit',
    ],
    ['a changed provider', "UPDATE charges SET provider = 'x' WHERE id = 1", 'of 1.00 USD was changed after'],
    [
      'a changed route',
      "UPDATE charges SET route = 'x' WHERE id = 1",
      'of 1.00 USD was changed after commit',
    ],
    [
      'a changed time',
      'UPDATE charges SET at_ms = 5 WHERE id = 1; UPDATE operations SET at_ms = 5 WHERE id = 3',
      'of 1.00 USD was changed after commit',
    ],
    ['a changed note', "UPDATE credits SET note = 'bye'", '(acct_ada): credit op_'],
    [
      'a changed idempotency key',
      "UPDATE credits SET idempotency_key = 'x'",
      'of 30.00 USD was changed after',
    ],
    [
      'a credit that counts for an admin token',
      'UPDATE credits SET token_id = 1, token_day = 1 WHERE id = 1',
      'was changed after',
    ],
    ['a changed available_after', 'UPDATE credits SET available_after = 1', 'of 30.00 USD was changed after'],
    [
      'a forged grant',
      `INSERT INTO operations SELECT 18, account_id, 5, 17, 'grant', 99, 99, 5, at_ms, 'promotions', -5, -10000000005, 'available',
          5, 6000000005, NULL, NULL, NULL, commit_id FROM operations WHERE id = 4;
        INSERT INTO credits SELECT 3, 99, 99, 2, 18, 5, 'promotions', NULL, NULL, 6000000005, commit_id, NULL, NULL, NULL, NULL FROM credits WHERE id = 2;
        UPDATE balances SET available = available + 5, promotions = promotions - 5, operation_count = 5, latest_operation_id = 18
          WHERE account_id = 2`,
      'credit op_000000000001hg000000000033 of 0.000000005 USD was inserted',
    ],
    [
      'a removed newest charge',
      `DELETE FROM charges WHERE id = 6; DELETE FROM operations WHERE id = 15;
        UPDATE balances SET available = available + 1000000000, revenue_text = revenue_text - 1000000000,
          operation_count = operation_count - 1, latest_operation_id = 14, latest_charge_id = 5 WHERE account_id = 1`,
      'wrote into "charges" is missing',
    ],
    [
      'an inflated grant with rewritten history',
      `UPDATE credits SET amount = 20000000000, available_after = 20000000000 WHERE id = 2;
        UPDATE operations SET amount = 20000000000, amount_1 = -20000000000, balance_after_1 = -20000000000,
          amount_2 = 20000000000, balance_after_2 = 20000000000 WHERE id = 2;
        UPDATE operations SET balance_after_1 = balance_after_1 + 10000000000 WHERE id = 4;
        UPDATE balances SET available = available + 10000000000, promotions = promotions - 10000000000 WHERE account_id = 2`,
      'credit op_',
    ],
    ['an emptied audit log', 'DELETE FROM audit_log', 'wrote into "audit_log" is missing'],
    ['a deleted audit line', 'DELETE FROM audit_log WHERE id = 2', 'wrote into "audit_log" is missing'],
    [
      'a changed audit line',
      "UPDATE audit_log SET actor = 'nobody' WHERE id = 2",
      'Audit line 2 (test.change of something) was changed after commit',
    ],
    [
      'an inserted audit line',
      'INSERT INTO audit_log SELECT max(id) + 1, actor, action, subject, at_ms, detail, commit_id, NULL, NULL FROM audit_log',
      '(test.change of something) was inserted',
    ],
    [
      'a changed attempt',
      'UPDATE attempts SET input = 9 WHERE id = 1',
      'Account "ada" (acct_ada): attempt 1 of req_',
    ],
    [
      'a changed cost of the provider of an attempt',
      'UPDATE attempts SET provider_cost = 1 WHERE id = 1',
      'Account "ada" (acct_ada): attempt 1 of req_',
    ],
    [
      'a made-up cost of the provider of a charge',
      'UPDATE charges SET provider_cost = 1 WHERE id = 2',
      CHARGE,
    ],
    [
      'an abandoned attempt made a timed-out one',
      "UPDATE attempts SET state = 'closed', input = NULL, cached_input = NULL WHERE id = 1",
      'attempt 1 of req_',
    ],
    ['a deleted job row', 'DELETE FROM jobs WHERE row_id = 1', 'is of 4.00 USD, but its job is missing'],
    [
      'a deleted job with its hold',
      'DELETE FROM jobs WHERE row_id = 1; DELETE FROM holds WHERE id = 1',
      'wrote into "jobs" is missing',
    ],
    [
      'a changed state of a job',
      "UPDATE jobs SET state = 'queued' WHERE row_id = 1",
      'is queued, but its latest event says processing.',
    ],
    [
      'a changed cost of a job',
      'UPDATE jobs SET cost = 5 WHERE row_id = 2',
      'costs 0.000000005 USD, but was',
    ],
    [
      'a changed loss of a job',
      'UPDATE jobs SET loss = 5 WHERE row_id = 4',
      'but its charge is 0.000000005 USD',
    ],
    ['tags of a job', "UPDATE jobs SET tags = 'team=b' WHERE row_id = 3", '(acct_ada): job img_'],
    ['another request of a job', 'UPDATE jobs SET request_key = 5 WHERE row_id = 3', '(acct_ada): job img_'],
    ['another model of a job', "UPDATE jobs SET model = 'x' WHERE row_id = 3", '(acct_ada): job img_'],
    [
      'a changed event of a job',
      "UPDATE job_events SET detail = 'x' WHERE row_id = 2",
      'event 2 (queued) was changed after commit',
    ],
    [
      'a deleted event of a job',
      'DELETE FROM job_events WHERE row_id = 2',
      'wrote into "job_events" is missing',
    ],
    [
      'a deleted debit',
      'DELETE FROM corrections WHERE id = 1',
      'a debit operation, but its correction is missing',
    ],
    ['a deleted refund', 'DELETE FROM corrections WHERE id = 2', 'but its charge is 0.00 USD'],
    [
      'a changed amount of a debit',
      'UPDATE corrections SET amount = 5 WHERE id = 1',
      'its correction is missing',
    ],
    [
      'a changed note of a debit',
      "UPDATE corrections SET note = 'x' WHERE id = 1",
      '(acct_ben): correction op_',
    ],
    [
      'a refund of the charge of another account',
      'UPDATE corrections SET charge_id = 1 WHERE id = 2',
      'refunds a charge that the account does not have',
    ],
    [
      'refunds above the cost of their charge',
      `INSERT INTO operations SELECT 99, account_id, 99, NULL, kind, 99, 99, amount, at_ms, book_1, amount_1, balance_after_1,
          book_2, amount_2, balance_after_2, NULL, NULL, NULL, commit_id FROM operations WHERE kind = 'refund';
        INSERT INTO corrections SELECT 3, 99, 99, account_id, 99, charge_id, 2000000000, NULL, NULL, 0, commit_id
          FROM corrections WHERE id = 2`,
      'refunds a charge of 2.00 USD, but the refunds of that charge add up to 3.00 USD',
    ],
    [
      'a refund of a compensated charge',
      `UPDATE attempts SET request_key = (SELECT id_key FROM charges WHERE id = 3),
        request_tail = (SELECT id_tail FROM charges WHERE id = 3) WHERE id = 3`,
      'refunds a charge that was compensated',
    ],
    ['a deleted media hold', 'DELETE FROM holds WHERE id = 1', 'is processing, but its hold is missing'],
    ['a negative cost', 'UPDATE charges SET cost = -1 WHERE id = 1', 'has a negative cost, -0.000000001 USD'],
    [
      'a media hold that was ended by hand',
      "UPDATE holds SET state = 'released', resolved_at_ms = 1 WHERE id = 1",
      'is released, but no operation ended it',
    ],
    [
      'a charge above its media hold',
      'UPDATE charges SET cost = 9000000000 WHERE id = 5',
      'is of 4.00 USD, but was charged 9.00 USD',
    ],
    [
      'a compensated attempt without its credit',
      'UPDATE attempts SET compensated_by = NULL WHERE id = 3',
      'costs 1.00 USD, but nothing was credited back',
    ],
    ['a media hold of another amount', 'UPDATE holds SET amount = 5 WHERE id = 1', 'hold_'],
  ])('verify finds, in a file that another program edited, %s', async (_, edit, message) => {
    expect(await messagesAfter(edit)).toContainEqual(expect.stringContaining(message))
  })
})
