import { describe, expect, test } from 'bun:test'
import { usd } from '../../../src/domain/money.ts'
import {
  aFailure,
  aJob,
  DAY_MS,
  jobIn,
  moneyWith,
  openJobs,
  record,
  soundBalance,
} from '../../support/job-builders.ts'
import { anAccount, NOW } from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

const idempotency = { key: 'order-7', fingerprint: 'images abc' }

/** What an idempotency key of a media request promises. */
export function idempotencyKeysConform(kind: StoreKind): void {
  describe('an idempotency key', () => {
    test('an idempotency key gives the first job to a repeat of its request, and holds nothing more', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const first = await record(jobs, aJob(payer, { idempotency }))

      const repeat = await jobs.create(aJob(payer, { idempotency }))

      expect(repeat).toEqual({ outcome: 'repeated', job: first })
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('queued'))
    })

    test('an idempotency key gives the first job even if the balance would not cover another', async () => {
      const { jobs, payer } = await openJobs(kind)
      const first = await record(jobs, aJob(payer, { idempotency, held: usd('10') }))

      const repeat = await jobs.create(aJob(payer, { idempotency, held: usd('10') }))

      expect(repeat).toEqual({ outcome: 'repeated', job: first })
    })

    test('an idempotency key gives a job that has ended as it ended', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('processing', jobs, aJob(payer, { idempotency }))
      const { job: ended } = await jobs.fail(id, aFailure)

      const repeat = await jobs.create(aJob(payer, { idempotency }))

      expect(repeat).toEqual({ outcome: 'repeated', job: ended })
    })

    test('an idempotency key refuses another request', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      await record(jobs, aJob(payer, { idempotency }))

      const other = await jobs.create(
        aJob(payer, { idempotency: { ...idempotency, fingerprint: 'images abd' } }),
      )

      expect(other).toEqual({ outcome: 'key_reused' })
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('queued'))
    })

    test('an idempotency key belongs to one account', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const other = await anAccount(store, { funds: usd('10') })
      await record(jobs, aJob(payer, { idempotency }))

      const created = await jobs.create(aJob(other, { idempotency }))

      expect(created).toMatchObject({ outcome: 'created', job: { accountId: other.accountId } })
    })

    test('an idempotency key is not kept if no job was made', async () => {
      const { jobs, payer } = await openJobs(kind)
      await jobs.create(aJob(payer, { idempotency, held: usd('11') }))

      const created = await jobs.create(
        aJob(payer, { idempotency: { ...idempotency, fingerprint: 'images cheaper' } }),
      )

      expect(created.outcome).toBe('created')
    })

    test('an idempotency key is kept for 24 hours from the creation of its job', async () => {
      const { jobs, payer } = await openJobs(kind)
      const first = await record(jobs, aJob(payer, { idempotency, held: usd('1') }))
      const late = (ms: number) =>
        jobs.create(aJob(payer, { idempotency, held: usd('1'), createdAtMs: NOW + ms }))

      const before = await late(DAY_MS - 1)
      const after = await late(DAY_MS)

      expect(before).toEqual({ outcome: 'repeated', job: first })
      expect(after.outcome).toBe('created')
    })

    test('an idempotency key finds its job and the fingerprint of the request', async () => {
      const { jobs, payer } = await openJobs(kind)
      const other = payer.accountId + 1
      const job = await record(jobs, aJob(payer, { idempotency }))
      const find = (accountId: number, key: string, atMs = NOW) => jobs.findByKey(accountId, key, atMs)

      expect(await find(payer.accountId, 'order-7')).toEqual({ fingerprint: 'images abc', job })
      expect(await find(payer.accountId, 'order-8')).toBeUndefined()
      expect(await find(other, 'order-7')).toBeUndefined()
      expect(await find(payer.accountId, 'order-7', NOW + DAY_MS)).toBeUndefined()
    })

    test('an idempotency key that many requests use at once on two nodes makes one job', async () => {
      const { store, other, jobs, payer } = await openJobs(kind)

      const created = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          (index % 2 === 0 ? store : other).jobs.create(aJob(payer, { idempotency })),
        ),
      )

      expect(created.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
      expect(created.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(39)
      expect((await jobs.list({ limit: 50 })).jobs).toHaveLength(1)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('queued'))
    })

    test('an idempotency key that two nodes get with two requests makes one job, and refuses the other', async () => {
      const { store, other, payer } = await openJobs(kind)

      const created = await Promise.all(
        [store, other].map((node, index) =>
          node.jobs.create(aJob(payer, { idempotency: { key: 'order-9', fingerprint: String(index) } })),
        ),
      )

      expect(created.map(({ outcome }) => outcome).sort()).toEqual(['created', 'key_reused'])
    })
  })
}
