import { expect, test } from 'bun:test'
import { usd } from '../../../domain/money.ts'
import { aCharge, hold, NOW, anAccount } from '../../../../test/support/ledger-builders.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'

const BETWEEN = { fromMs: NOW, toMs: NOW + 1 }

test('a charge whose commit fails is added to the usage of its day once, when it is repeated', async () => {
  const store = aSqliteStore()
  const { accountId, apiKeyId } = await anAccount(store, { funds: usd('10') })
  let isFailing = true
  store.transactions.join({
    beforeCommit() {
      if (isFailing) throw new Error('The disk is full.')
    },
  })
  const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('3') })
  const capture = () => store.ledger.captureHold(held, aCharge(apiKeyId, { tokens: 2 }))
  await rejection(capture())
  const before = await store.ledger.usageTotals(accountId, BETWEEN)
  isFailing = false

  await capture()
  await capture()

  expect(before.charges).toBe(0)
  expect(await store.ledger.usageTotals(accountId, BETWEEN)).toMatchObject({ charges: 1, cost: usd('2') })
  expect(await store.ledger.verify()).toMatchObject({ problems: [] })
  await store.close()
})

test('charges of several requests in one commit are one write, and each is counted', async () => {
  const store = aSqliteStore()
  const payers = await Promise.all(
    [1, 2].map(index => anAccount(store, { name: `payer ${index}`, funds: usd('100') })),
  )
  const holds = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const payer = payers[index % 2]!
      return { payer, held: await hold(store.ledger, { ...payer, kind: 'text', amount: usd('3') }) }
    }),
  )

  await Promise.all(
    holds.map(({ payer, held }) => store.ledger.captureHold(held, aCharge(payer.apiKeyId, { tokens: 2 }))),
  )

  for (const { accountId } of payers)
    expect(await store.ledger.usageTotals(accountId, BETWEEN)).toMatchObject({
      charges: 5,
      inputTokens: 10,
      cost: usd('10'),
    })
  expect(store.database.query('SELECT count(*) AS rows FROM usage_days').get()).toEqual({ rows: 2n })
  await store.close()
})

test('a range that begins within a day has only the charges from then on', async () => {
  const store = aSqliteStore()
  const { accountId, apiKeyId } = await anAccount(store, { funds: usd('10') })
  for (const atMs of [NOW, NOW + 1000]) {
    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('3') })
    await store.ledger.captureHold(held, aCharge(apiKeyId, { atMs }))
  }

  const totals = await store.ledger.usageTotals(accountId, { fromMs: NOW + 1, toMs: NOW + 2000 })

  expect(totals.charges).toBe(1)
  await store.close()
})
