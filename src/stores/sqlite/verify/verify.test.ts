import { describe, expect, test } from 'bun:test'
import { formatId } from '../../../domain/ids.ts'
import { usd } from '../../../domain/money.ts'
import { aCharge, anAccount, hold, NOW } from '../../../../test/support/ledger-builders.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'

describe('verify', () => {
  test('finds nothing wrong in books that were used in every way, and counts their entries', async () => {
    const { store } = await usedBooks()

    const verification = await store.ledger.verify()

    expect(verification).toEqual({ problems: [], entries: 14 })
  })

  test('finds nothing wrong while the books are written to', async () => {
    const { store, accountId, apiKeyId } = await usedBooks()
    const verified = new AbortController()
    const spend = async () => {
      while (!verified.signal.aborted) {
        const held = await hold(store.ledger, { accountId, kind: 'media', amount: usd('0.000000002') })
        await store.ledger.captureHold(held, aCharge(apiKeyId, { tariff: null, cost: usd('0.000000001') }))
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
    ['UPDATE operations SET amount_1 = amount_1 - 1 WHERE id = 4', '4.1', 'Entry 4.1 leaves'],
    ['UPDATE operations SET balance_after_2 = balance_after_2 + 1 WHERE id = 4', '4.2', 'Entry 4.2 leaves'],
    [
      'UPDATE operations SET amount_1 = amount_1 - 1, balance_after_1 = balance_after_1 - 1 WHERE id = 7',
      '7.1',
      'whose entries sum to -1 and not to zero',
    ],
    [
      "UPDATE operations SET book_2 = 'losses' WHERE id = 3",
      '3.2',
      'Entry 3.2 is in "losses", which no hold touches',
    ],
    [
      "UPDATE operations SET book_3 = 'available', amount_3 = 1, balance_after_3 = 9 WHERE id = 2",
      '2.3',
      'Entry 2.3 leaves 9 in "available"',
    ],
    ["UPDATE operations SET book_3 = 'available' WHERE id = 2", '2.3', 'Entry 2.3 is not whole'],
    ['UPDATE operations SET amount_3 = 1 WHERE id = 2', '2.3', 'Entry 2.3 is not whole'],
    ['UPDATE operations SET balance_after_3 = 0 WHERE id = 2', '2.3', 'Entry 2.3 is not whole'],
    ["UPDATE tariffs SET content = ''", null, 'has tariff 1, whose prices cannot be read'],
    [`UPDATE tariffs SET content = '{"input":"a dollar"}'`, null, 'whose prices cannot be read'],
    ['DELETE FROM operations WHERE id = 2', '3.1', 'operation 3 of its account, where operation 2 is due'],
    ['DELETE FROM operations WHERE id > 6', null, 'Account 1 has'],
    ['UPDATE operations SET id = 9 WHERE id = 7', '9.1', 'a hold that nothing knows of'],
    [
      'UPDATE operations SET number = 8 WHERE id = 7',
      '7.1',
      'operation 8 of its account, where operation 7 is due',
    ],
    [
      'UPDATE operations SET amount = amount - 1 WHERE id = 2',
      '2.1',
      'change the available balance by -1000000000 and not by -1000000001',
    ],
    [
      'UPDATE operations SET previous_id = NULL WHERE id = 3',
      '3.1',
      'which follows null where 2 came before',
    ],
    ['UPDATE operations SET account_id = 2 WHERE id = 3', '3.1', 'operation 3 of its account'],
    ['UPDATE operations SET subject_key = 1 WHERE id = 6', '6.1', 'a release that nothing knows of'],
    ['UPDATE operations SET subject_tail = 1 WHERE id = 2', '2.1', 'earn 1000000000 where the charge is 0'],
    ["UPDATE operations SET kind = 'gift' WHERE id = 1", '1.1', 'which no gift touches'],
    [
      'UPDATE operations SET at_ms = at_ms + 1 WHERE id = 2',
      '2.1',
      'a charge of another time than what it is of',
    ],
    [
      'UPDATE operations SET at_ms = at_ms + 1 WHERE id = 3',
      '3.1',
      'a hold of another time than what it is of',
    ],
    ['UPDATE operations SET at_ms = at_ms + 1 WHERE id = 6', '6.1', 'a release of another time'],
    ['DELETE FROM credits WHERE operation_id = 1', '1.1', 'a top_up that nothing knows of'],
    [
      'UPDATE credits SET amount = amount + 1 WHERE operation_id = 1',
      '1.1',
      'a top_up that nothing knows of',
    ],
    ['DELETE FROM charges WHERE operation_id = 2', '2.1', 'earn 1000000000 where the charge is 0'],
    ['UPDATE balances SET available = available + 1', null, 'stored in "available"'],
    ['UPDATE balances SET latest_operation_id = 1', null, 'has operation 1 as its latest'],
    ['UPDATE balances SET latest_charge_id = NULL', null, 'has charge null as its latest'],
    [
      'UPDATE balances SET latest_charge_id = (SELECT min(id) FROM charges)',
      null,
      'does not lead to the one of operation 4',
    ],
    ['UPDATE balances SET latest_charge_id = 7', null, 'has charge 7 as its latest'],
    ['UPDATE charges SET cost = cost + 1 WHERE operation_id = 2', '2.1', 'where the charge is 1000000001'],
    ['UPDATE charges SET input = 2 WHERE operation_id = 2', null, 'is worth 2000000000 by its frozen tariff'],
    [
      'UPDATE charges SET operation_id = 1 WHERE operation_id = 2',
      '2.1',
      'earn 1000000000 where the charge is 0',
    ],
    [
      'UPDATE charges SET at_ms = at_ms + 1 WHERE operation_id = 4',
      null,
      'operation 4, which is not its own',
    ],
    ['UPDATE charges SET api_key_id = 7', null, 'API key 7, which its account does not have'],
    ["UPDATE charges SET provenance = 'guessed'", null, 'of the provenance "guessed"'],
    ['UPDATE charges SET images = 1', null, 'is not for exactly one of text, images and video'],
    ['UPDATE charges SET provenance = NULL', null, 'is not for exactly one of text, images and video'],
    ['UPDATE charges SET is_clamped = 2', null, 'says 2 of whether it was clamped'],
    ['UPDATE charges SET shortfall = -1', null, 'of which -1 exceeded its hold'],
    ['UPDATE charges SET id_tail = 1 WHERE operation_id = 2', '2.1', 'earn 1000000000 where the charge is 0'],
    ['UPDATE charges SET previous_id = 7 WHERE operation_id = 4', null, 'follows charge 7'],
    [`UPDATE tariffs SET content = '{"input":"1","output":"1"}'`, null, 'is worth 1 by its frozen tariff'],
    ['DELETE FROM tariffs', null, 'has tariff 1, which does not exist'],
    [
      "UPDATE holds SET state = 'captured', resolved_at_ms = 1 WHERE state = 'open'",
      null,
      'open holds come to 0',
    ],
    [
      "UPDATE holds SET state = 'released' WHERE state = 'captured'",
      null,
      'is released, but was ended by the operation "capture"',
    ],
    [
      "UPDATE holds SET resolved_by = NULL WHERE state = 'released'",
      '6.1',
      'a release that nothing knows of',
    ],
    ['UPDATE holds SET amount = 1', null, 'in "held.media", where its open holds come to 1'],
  ])('names what was tampered with: %s', async (tampering, entryId, message) => {
    const { store } = await usedBooks()
    tamper(store, tampering)

    const { problems } = await store.ledger.verify()

    expect(problems).not.toEqual([])
    expect(problems[0]).toEqual({ entryId, message: expect.stringContaining(message) })
  })

  test('names the charge by the id its customer knows', async () => {
    const { store, charged } = await usedBooks()
    tamper(store, 'UPDATE charges SET input = 2 WHERE operation_id = 2')

    const { problems } = await store.ledger.verify()

    expect(problems[0]!.message).toStartWith(`Charge ${formatId('req', charged)} costs 1000000000`)
  })

  test('finds nothing wrong where the latest charges were free', async () => {
    const { store, accountId, apiKeyId } = await usedBooks()
    const free = await hold(store.ledger, { accountId, kind: 'text', amount: usd('0') })
    await store.ledger.captureHold(free, aCharge(apiKeyId, { tokens: 0 }))

    const { problems } = await store.ledger.verify()

    expect(problems).toEqual([])
  })

  test('tells at most a hundred problems', async () => {
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
  test.each(['operations', 'charges', 'tariffs', 'audit_log'])(
    'a line of %s can be neither changed nor deleted',
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
 * Operation 1 is a credit, 2 a text charge, 3 and 4 a media hold and its capture, 5 and 6 another and its release, 7 one that
 * is open. Each has two entries.
 */
async function usedBooks() {
  const store = aSqliteStore()
  const { accountId, apiKeyId } = await anAccount(store, { funds: usd('9') })
  const { ledger } = store
  const text = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
  await ledger.captureHold(text, aCharge(apiKeyId))
  const media = await hold(ledger, { accountId, kind: 'media', amount: usd('1') })
  await ledger.captureHold(media, aCharge(apiKeyId))
  const released = await hold(ledger, { accountId, kind: 'media', amount: usd('3') })
  await ledger.releaseHold(released, NOW)
  await hold(ledger, { accountId, kind: 'media', amount: usd('4') })
  return { store, accountId, apiKeyId, charged: text.id }
}
