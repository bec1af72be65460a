import { describe, expect, test } from 'bun:test'
import { formatId } from '../../../domain/ids.ts'
import { usd } from '../../../domain/money.ts'
import { aCharge, anAccount, anImagesCharge, hold, NOW } from '../../../../test/support/ledger-builders.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'

describe('verify', () => {
  test('verify finds no problem in books that were used in every way, and counts their entries', async () => {
    const { store } = await usedBooks()

    const verification = await store.ledger.verify()

    expect(verification).toEqual({ problems: [], entries: 14, affected: [] })
  })

  test('verify finds no problem while the books are written to', async () => {
    const { store, accountId, apiKeyId } = await usedBooks()
    const verified = new AbortController()
    const nano = usd('0.000000001')
    const charge = { ...anImagesCharge(apiKeyId), tariff: { perImage: nano }, cost: nano }
    const spend = async () => {
      while (!verified.signal.aborted) {
        const held = await hold(store.ledger, { accountId, kind: 'media', amount: usd('0.000000002') })
        await store.ledger.captureHold(held, charge)
      }
    }
    const spending = Array.from({ length: 20 }, spend)
    const rounds = [await store.ledger.verify()]

    while (rounds.at(-1)!.entries < rounds[0]!.entries + 100) rounds.push(await store.ledger.verify())
    verified.abort()
    await Promise.all(spending)

    expect(rounds.flatMap(({ problems }) => problems)).toEqual([])
  })

  test.each([
    [
      'UPDATE operations SET amount_1 = amount_1 - 1 WHERE id = 4',
      '4.1',
      'entry 4.1 leaves 0.00 USD in "held.media", but -0.000000001 USD is correct',
    ],
    [
      'UPDATE operations SET balance_after_2 = balance_after_2 + 1 WHERE id = 4',
      '4.2',
      'entry 4.2 leaves 1.000000001 USD in "revenue.media", but 1.00 USD is correct',
    ],
    [
      'UPDATE operations SET amount_1 = amount_1 - 1, balance_after_1 = balance_after_1 - 1 WHERE id = 7',
      '7.1',
      'begins an operation whose entries add up to -0.000000001 USD instead of zero',
    ],
    [
      "UPDATE operations SET book_2 = 'losses' WHERE id = 3",
      '3.2',
      'is in "losses", but a hold does not touch that book',
    ],
    [
      "UPDATE operations SET book_3 = 'available', amount_3 = 1, balance_after_3 = 9 WHERE id = 2",
      '2.3',
      'leaves 0.000000009 USD in "available"',
    ],
    ["UPDATE operations SET book_3 = 'available' WHERE id = 2", '2.3', 'entry 2.3 is incomplete'],
    ['UPDATE operations SET amount_3 = 1 WHERE id = 2', '2.3', 'entry 2.3 is incomplete'],
    ['UPDATE operations SET balance_after_3 = 0 WHERE id = 2', '2.3', 'entry 2.3 is incomplete'],
    ["UPDATE tariffs SET content = '' WHERE id = 1", null, 'has tariff 1, whose prices cannot be read'],
    [`UPDATE tariffs SET content = '{"input":"a dollar"}' WHERE id = 1`, null, 'whose prices cannot be read'],
    [
      'DELETE FROM operations WHERE id = 2',
      '3.1',
      'begins operation 3 of the account, but operation 2 is next',
    ],
    [
      'DELETE FROM operations WHERE id > 6',
      null,
      '(acct_1): balance is 3.00 USD, but its entries add up to 7.00 USD.',
    ],
    ['UPDATE operations SET id = 9 WHERE id = 7', '9.1', 'begins a hold operation, but its hold is missing'],
    [
      'UPDATE operations SET number = 8 WHERE id = 7',
      '7.1',
      'operation 8 of the account, but operation 7 is',
    ],
    [
      'UPDATE operations SET amount = amount - 1 WHERE id = 2',
      '2.1',
      'states a change of -1.000000001 USD, but its entries change the available balance by -1.00 USD',
    ],
    [
      'UPDATE operations SET previous_id = NULL WHERE id = 3',
      '3.1',
      'names operation null as the one before it, but that is operation 2',
    ],
    ['UPDATE operations SET account_id = 2 WHERE id = 3', '3.1', 'begins operation 3 of the account'],
    [
      'UPDATE operations SET subject_key = 1 WHERE id = 6',
      '6.1',
      'a release operation, but its hold is missing',
    ],
    [
      'UPDATE operations SET subject_tail = 1 WHERE id = 2',
      '2.1',
      'earns 1.00 USD, but its charge is 0.00 USD',
    ],
    ["UPDATE operations SET kind = 'gift' WHERE id = 1", '1.1', 'but a gift does not touch that book'],
    ['UPDATE operations SET at_ms = at_ms + 1 WHERE id = 2', '2.1', 'at another time than its charge'],
    ['UPDATE operations SET at_ms = at_ms + 1 WHERE id = 3', '3.1', 'at another time than its hold'],
    ['UPDATE operations SET at_ms = at_ms + 1 WHERE id = 6', '6.1', 'at another time than its hold'],
    ['DELETE FROM credits WHERE operation_id = 1', '1.1', 'a top_up operation, but its credit is missing'],
    [
      'UPDATE credits SET amount = amount + 1 WHERE operation_id = 1',
      '1.1',
      'a top_up operation, but its credit is missing',
    ],
    ['DELETE FROM charges WHERE operation_id = 2', '2.1', 'earns 1.00 USD, but its charge is 0.00 USD'],
    [
      'UPDATE balances SET available = available - 4515',
      null,
      'Account "ada" (acct_1): balance is 2.999995485 USD, but its entries add up to 3.00 USD.',
    ],
    [
      'UPDATE balances SET losses = 1',
      null,
      '"losses" is 0.000000001 USD, but its entries add up to 0.00 USD',
    ],
    ['DELETE FROM balances', null, 'Account "ada" (acct_1): its balances are missing.'],
    ['DELETE FROM accounts', null, 'Account 1 (deleted): the account is missing, but it has 7 operations.'],
    ['UPDATE balances SET operation_count = 6', null, 'its number of operations is 6, but 7 is the latest'],
    ['UPDATE balances SET latest_operation_id = 1', null, 'its latest operation is 1, but 7 is the latest'],
    ['UPDATE balances SET latest_charge_id = NULL', null, 'its latest charge is null, but 2 is the latest'],
    ['UPDATE balances SET latest_charge_id = 1', null, 'its latest charge is 1, but 2 is the latest'],
    [
      'UPDATE charges SET cost = cost + 1 WHERE operation_id = 2',
      '2.1',
      'earns 1.00 USD, but its charge is 1.000000001 USD',
    ],
    [
      'UPDATE charges SET input = 2 WHERE operation_id = 2',
      null,
      'costs 1.00 USD, but its usage costs 2.00 USD at the stored prices',
    ],
    [
      'UPDATE charges SET operation_id = 1 WHERE operation_id = 2',
      '2.1',
      'earns 1.00 USD, but its charge is 0.00 USD',
    ],
    [
      'UPDATE charges SET at_ms = at_ms + 1 WHERE operation_id = 4',
      null,
      'has operation 4, which belongs to another charge',
    ],
    ['UPDATE charges SET api_key_id = 7', null, 'has API key 7, which the account does not have'],
    ["UPDATE charges SET provenance = 'guessed'", null, 'has the unknown usage source "guessed"'],
    ['UPDATE charges SET images = 1', null, 'is not for exactly one of text, images and video'],
    ['UPDATE charges SET provenance = NULL', null, 'is not for exactly one of text, images and video'],
    [
      'UPDATE charges SET provenance = NULL, images = 1, tariff_id = NULL WHERE operation_id = 4',
      null,
      'has no tariff',
    ],
    ['UPDATE charges SET is_clamped = 2', null, 'has 2 for is_clamped, which must be 0 or 1'],
    [
      'UPDATE charges SET assumed_cached = 1',
      null,
      'has 1 for assumed_cached, which must be the cached input of an estimate',
    ],
    ['UPDATE charges SET shortfall = -1', null, 'but has a shortfall of -0.000000001 USD'],
    [
      'UPDATE charges SET id_tail = 1 WHERE operation_id = 2',
      '2.1',
      'earns 1.00 USD, but its charge is 0.00',
    ],
    [
      'UPDATE charges SET previous_id = NULL WHERE operation_id = 4',
      null,
      'names charge row null as the one before it, but that is row 1',
    ],
    [
      `UPDATE tariffs SET content = '{"input":"1","output":"1"}' WHERE id = 1`,
      null,
      'its usage costs 0.000000001 USD at the stored prices',
    ],
    ['DELETE FROM tariffs', null, 'has tariff 1, which does not exist'],
    [
      "UPDATE holds SET state = 'captured', resolved_at_ms = 1 WHERE state = 'open'",
      null,
      '"held.media" is 4.00 USD, but its open holds add up to 0.00 USD',
    ],
    [
      "UPDATE holds SET state = 'released' WHERE state = 'captured'",
      null,
      'is released, but an operation of the kind "capture" ended it',
    ],
    [
      "UPDATE holds SET resolved_by = NULL WHERE state = 'released'",
      '6.1',
      'a release operation, but its hold is missing',
    ],
    [
      'UPDATE holds SET amount = 1',
      null,
      '"held.media" is 4.00 USD, but its open holds add up to 0.000000001',
    ],
  ])('verify reports %s', async (tampering, entryId, message) => {
    const { store } = await usedBooks()
    tamper(store, tampering)

    const { problems } = await store.ledger.verify()

    expect(problems[0]).toMatchObject({ entryId, message: expect.stringContaining(message) })
  })

  test('verify names the account, and the charge by the id that its customer knows', async () => {
    const { store, charged } = await usedBooks()
    tamper(store, 'UPDATE charges SET input = 2 WHERE operation_id = 2')

    const { problems } = await store.ledger.verify()

    expect(problems[0]!.message).toBe(
      `Account "ada" (acct_1): charge ${formatId('req', charged)} costs 1.00 USD, but its usage costs 2.00 USD at the stored prices.`,
    )
  })

  test('verify reports the wrong entries of several accounts, one for each', async () => {
    const { store } = await usedBooks()
    await anAccount(store, { funds: usd('1') })
    tamper(store, 'UPDATE operations SET balance_after_1 = balance_after_1 + 1')

    const { problems } = await store.ledger.verify()

    expect(problems.filter(({ entryId }) => entryId !== null)).toMatchObject([
      { entryId: '1.1' },
      { entryId: '8.1' },
    ])
  })

  test('verify finds no problem if the latest charges were free', async () => {
    const { store, accountId, apiKeyId } = await usedBooks()
    const free = await hold(store.ledger, { accountId, kind: 'text', amount: usd('0') })
    await store.ledger.captureHold(free, aCharge(apiKeyId, { tokens: 0 }))

    const { problems } = await store.ledger.verify()

    expect(problems).toEqual([])
  })

  test('verify reports at most a hundred problems', async () => {
    const { store, accountId, apiKeyId } = await usedBooks()
    for (let made = 0; made < 120; made += 1) {
      const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('0') })
      await store.ledger.captureHold(held, aCharge(apiKeyId, { tokens: 0 }))
    }
    tamper(store, 'UPDATE charges SET input = 5')

    const { problems } = await store.ledger.verify()

    expect(problems).toHaveLength(100)
  })
})

describe('the books', () => {
  test.each(['operations', 'charges', 'credits', 'tariffs', 'commits', 'audit_log'])(
    'a row of %s can be neither changed nor deleted',
    async table => {
      const { store } = await usedBooks()

      const change = () => store.database.run(`UPDATE ${table} SET id = id + 1000`)
      const remove = () => store.database.run(`DELETE FROM ${table}`)

      expect(change).toThrow('never updated')
      expect(remove).toThrow('never deleted')
    },
  )
})

/**
 * Operation 1 is a credit, 2 a text charge, 3 and 4 a media hold and its capture, 5 and 6 another one and its release,
 * and 7 an open one. Each has two entries.
 */
async function usedBooks() {
  const store = aSqliteStore()
  const { accountId, apiKeyId } = await anAccount(store, { funds: usd('9'), name: 'ada', publicId: 'acct_1' })
  const { ledger } = store
  const text = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
  await ledger.captureHold(text, aCharge(apiKeyId))
  const media = await hold(ledger, { accountId, kind: 'media', amount: usd('1') })
  await ledger.captureHold(media, anImagesCharge(apiKeyId))
  const released = await hold(ledger, { accountId, kind: 'media', amount: usd('3') })
  await ledger.releaseHold(released, NOW)
  await hold(ledger, { accountId, kind: 'media', amount: usd('4') })
  return { store, accountId, apiKeyId, charged: text.id }
}
