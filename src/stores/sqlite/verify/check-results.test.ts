import { expect, test } from 'bun:test'
import { aJob, aResult, COST, jobIn } from '../../../../test/support/job-builders.ts'
import { anAccount, anAudit, anId, NOW } from '../../../../test/support/ledger-builders.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { describeUsd, formatUsd, subtractUsd, usd, type NanoUsd } from '../../../domain/money.ts'
import { publicId } from '../../../gateway/media/job-id.ts'
import { BlobsUnavailableError, type BlobDamage } from '../../../gateway/ports/media/blobs.ts'

type Damage = BlobDamage | undefined

/** Books with this many completed jobs of three images each, and one that runs. */
async function paidBooks(count = 1) {
  const store = aSqliteStore()
  const payer = await anAccount(store, { funds: usd('1000'), name: 'ada', publicId: 'acct_ada' })
  await jobIn('processing', store.jobs, aJob(payer))
  const jobs = []
  for (let made = 0; made < count; made += 1)
    jobs.push(await jobIn('completed', store.jobs, aJob(payer, { held: usd('4') })))
  const seen: string[] = []
  const verify = async (damage: (key: string) => Damage | Promise<Damage>) =>
    store.ledger.verify({
      damageOf: async ({ key }) => {
        seen.push(key)
        return damage(key)
      },
    })
  return { store, jobs, seen, verify }
}

test('verify checks each file of each completed job, and finds no problem in intact ones', async () => {
  const { seen, verify } = await paidBooks(40)

  const { problems, affected } = await verify(() => undefined)

  expect([problems, affected]).toEqual([[], []])
  expect(seen).toHaveLength(40 * aResult().outputs.length)
})

test('verify reports results that are out of reach as one problem, which names no job and stops nothing', async () => {
  const { seen, verify } = await paidBooks(3)

  const { problems, affected } = await verify(() => {
    throw new BlobsUnavailableError('The storage is down.')
  })

  expect(problems).toMatchObject([{ accountId: null, stopsNothing: true }])
  expect(problems[0]!.message).toBe(
    'The stored results could not all be checked. The storage is down. Run verify again later.',
  )
  expect([affected, seen.length]).toEqual([[], 1])
})

test('verify names every damaged result, also beyond the limit of problems in the books', async () => {
  const { verify } = await paidBooks(120)

  const { problems, affected } = await verify(key => (key === 'img_x/out-1' ? 'unreadable' : undefined))

  expect(problems).toHaveLength(120)
  expect(affected).toEqual([])
  expect(problems[0]!.message).toStartWith('Account "ada" (acct_ada): job img_')
  expect(problems[0]!.message).toContain(
    ' has damaged stored files: img_x/out-1 (unreadable). Put them back from a backup',
  )
})

test('the problem of a damaged result names what is left of its charge, and stays the same problem', async () => {
  const { store, jobs, verify } = await paidBooks()
  const { id: charge } = jobs[0]!
  const refund = (amount: NanoUsd) =>
    store.ledger.refund({
      id: anId(),
      charge,
      amount,
      idempotencyKey: formatUsd(amount),
      audit: anAudit({ action: 'charge.refund' }),
    })
  const found = async () => (await verify(() => 'missing')).problems[0]!
  const command = `"tollgate refund ${publicId(jobs[0]!)}`

  const charged = await found()
  await refund(usd('0.02'))
  const partly = await found()
  await refund(subtractUsd(COST, usd('0.02')))
  const refunded = await found()

  expect(charged.message).toEndWith(`or refund the charge of ${describeUsd(COST)} with ${command}".`)
  const left = subtractUsd(COST, usd('0.02'))
  expect(partly.message).toEndWith(
    `or refund the ${describeUsd(left)} that are left of its charge with ${command} --amount ${formatUsd(left)}".`,
  )
  expect(refunded.message).toEndWith('(missing). Its charge was refunded.')
  expect([partly.id, refunded.id]).toEqual([charged.id, charged.id])
})

test('verify reports no problem for a job that is archived while it reads its files', async () => {
  const { store, jobs, verify } = await paidBooks()

  const { problems } = await verify(async key => {
    if (key === 'img_x/out-0') await store.jobs.archive(jobs[0]!.id, NOW + 9000)
    return 'missing' as const
  })

  expect(problems).toEqual([])
})

test.each(["'x'", "'null'", 'NULL', "'[null]'", "'{}'"])(
  'a job whose list of files was made %s is named',
  async list => {
    const { store, verify } = await paidBooks()
    tamper(store, `UPDATE jobs SET outputs = ${list} WHERE state = 'completed'`)

    const { problems } = await verify(() => undefined)

    expect(problems.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('has damaged stored files: the list of them cannot be read.'),
    )
  },
)
