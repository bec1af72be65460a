import { describe, expect, test } from 'bun:test'
import { usd } from '../../../domain/money.ts'
import { aCharge, anAudit, anId, hold, NOW, openWithFunds } from '../../../../test/support/ledger-builders.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { listUsage, type UsageEntry } from './list-usage.ts'

/** Charges of 1 USD at the seconds 0 to 5, and refunds of the first and the fourth one. */
async function setUpRefunded() {
  const { ledger, accountId, apiKeyId } = await openWithFunds(sqlite, usd('50'))
  const charges = []
  for (let second = 0; second < 6; second += 1) {
    const held = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
    await ledger.captureHold(held, aCharge(apiKeyId, { atMs: NOW + 1000 * second }))
    charges.push(held.id)
  }
  for (const [index, second] of [
    [0, 2],
    [3, 2],
    [0, 9],
  ] as const)
    await ledger.refund({
      id: anId(),
      charge: charges[index]!,
      amount: usd('0.25'),
      idempotencyKey: `fix-${index}-${second}`,
      audit: anAudit({ atMs: NOW + 1000 * second }),
    })
  return { ledger, accountId }
}

/** The kind of an entry and its second. */
function summaryOf({ charge, refund }: UsageEntry): string {
  const second = ((charge ?? refund).atMs - NOW) / 1000
  return `${charge === undefined ? 'refund' : 'charge'} ${second}`
}

const ALL = [
  'refund 9',
  'charge 5',
  'charge 4',
  'charge 3',
  'refund 2',
  'refund 2',
  'charge 2',
  'charge 1',
  'charge 0',
]

describe('the list of charges and refunds', () => {
  test('the list of charges and refunds has each refund where it was made, newest first', async () => {
    const { ledger, accountId } = await setUpRefunded()

    expect((await listUsage(accountId, { limit: 20 }, ledger)).map(summaryOf)).toEqual(ALL)
    expect((await listUsage(undefined, { limit: 20 }, ledger)).map(summaryOf)).toEqual(ALL)
  })

  test.each([1, 2, 3, 4, 8])('the list of charges and refunds is the same in pages of %d', async limit => {
    const { ledger, accountId } = await setUpRefunded()

    const entries: UsageEntry[] = []
    for (let page: readonly UsageEntry[] = []; ;) {
      const before = entries.at(-1)?.cursor
      page = await listUsage(accountId, { limit, ...(before === undefined ? {} : { before }) }, ledger)
      entries.push(...page)
      if (page.length < limit) break
    }

    expect(entries.map(summaryOf)).toEqual(ALL)
  })

  test('the list of charges and refunds of a time has the charges and the refunds that were made in it', async () => {
    const { ledger, accountId } = await setUpRefunded()
    const between = { fromMs: NOW + 2000, toMs: NOW + 4000 }

    expect((await listUsage(accountId, { limit: 20, between }, ledger)).map(summaryOf)).toEqual(
      ALL.slice(3, 7),
    )
  })

  test.each(['nonsense', 'r1.nonsense', '.r1', 'n1r1.'])(
    'the list of charges and refunds refuses the cursor %p',
    async before => {
      const { ledger, accountId } = await setUpRefunded()

      expect(listUsage(accountId, { limit: 2, before }, ledger)).rejects.toMatchObject({
        code: 'invalid_field',
      })
    },
  )
})
