import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aJob, openJobs } from '../../../test/support/job-builders.ts'
import { anAccount, aTextHold } from '../../../test/support/ledger-builders.ts'
import { noGuard } from '../../../test/support/no-guard.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore, sqlite } from '../../../test/support/test-store.ts'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import type { GatewayError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import { HoldQueue } from './hold-queue.ts'
import { admitted } from './admit-spend.ts'

const { request, quote } = anAdmittedRequest([aDestination('main')])
const client = { signal: new AbortController().signal }

/** The text holds of an account with these funds, without a wait. */
async function textHolds(funds: string) {
  const store = aSqliteStore()
  const { accountId } = await anAccount(store, { funds: usd(funds) })
  const holds = new HoldQueue(
    { ledger: store.ledger, guard: noGuard, clock: fakeClock() },
    { waitMs: 0, mode: 'hold' },
  )
  const { amount } = quote
  const admit = async () => {
    const outcome = await holds.place(aTextHold({ accountId, amount }), client)
    return admitted(outcome, { amount, text: { request, quote } }, {})
  }
  return { admit, holds, accountId }
}

/** The jobs of an account with 10 USD. */
async function jobSpend(held: string) {
  const { jobs, payer } = await openJobs(sqlite)
  const job = { ...aJob(payer), held: usd(held) }
  return { admit: async () => admitted(await jobs.create(job), { amount: job.held }, {}), jobs }
}

describe('a text request', () => {
  test('a text request is admitted with its worst case held', async () => {
    const { admit } = await textHolds('1')

    const { hold } = await admit()

    expect(hold.amount).toBe(quote.amount)
  })

  test('a text request that the balance cannot pay for is told what would fit', async () => {
    const { admit } = await textHolds('0.0005')

    const { code, message, extras } = (await rejection(admit())) as GatewayError

    expect(code).toBe('insufficient_balance')
    expect(message).toContain('The available balance is 0.0005 USD. Set `max_tokens` to ')
    expect(extras.extensions).toMatchObject({ available_usd: '0.0005', held_usd: '0' })
    expect(extras.extensions).toContainKey('max_affordable_output_tokens')
  })

  test('a text request may be repeated soon if running requests hold what it needs', async () => {
    const { admit, holds, accountId } = await textHolds('0.002')
    await holds.place(aTextHold({ accountId, amount: usd('0.0019') }), client)

    const { code, message, extras } = (await rejection(admit())) as GatewayError

    expect(code).toBe('balance_reserved')
    expect(message).toContain(
      'Running requests of this account hold 0.0019 USD more. Retry when they have ended',
    )
    expect(extras).toMatchObject({ retryAfter: '2', shouldRetry: true })
  })
})

describe('a job', () => {
  test('a job is admitted when it is recorded with its money', async () => {
    const { admit } = await jobSpend('4')

    expect(await admit()).toMatchObject({ outcome: 'created', job: { held: usd('4') } })
  })

  test('a job that the balance cannot pay for is refused with both amounts, and is not recorded', async () => {
    const { admit, jobs } = await jobSpend('11')

    const { code, message, extras } = (await rejection(admit())) as GatewayError

    expect(code).toBe('insufficient_balance')
    expect(message).toBe('This job reserves 11 USD, and 10 USD is available. Add funds.')
    expect(extras.extensions).toEqual({ required_usd: '11', available_usd: '10', held_usd: '0' })
    expect((await jobs.list({ limit: 9 })).jobs).toEqual([])
  })
})
