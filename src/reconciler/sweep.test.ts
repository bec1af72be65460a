import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { aVideoJob, jobIn, openJobs } from '../../test/support/job-builders.ts'
import { NOW } from '../../test/support/ledger-builders.ts'
import { sqlite } from '../../test/support/test-store.ts'
import { turn } from '../../test/support/turn.ts'
import type { Job } from '../domain/jobs/job.ts'
import { usd } from '../domain/money.ts'
import type { Jobs } from '../gateway/ports/media/jobs.ts'
import { askProviders } from './sweep.ts'

/** When the jobs of `jobIn` are due for a poll. */
const DUE_MS = NOW + 3000
/** After this time without an answer, a provider is slow. */
const SLOW_MS = 3000

/** Running jobs, each at one of the providers, and the sweeps of two nodes. */
async function setUp(providers: readonly string[]) {
  const clock = fakeClock(DUE_MS)
  const { jobs, other, payer } = await openJobs(sqlite, { clock })
  for (const provider of providers)
    await jobIn('processing', jobs, aVideoJob(payer, { held: usd('0.01'), provider }))
  const asked: Job[] = []
  const places = new Map<string, string>()
  const sweep = (node: Jobs, answer: (job: Job) => Promise<void> = async () => {}) =>
    askProviders(
      {
        jobs: node,
        clock,
        places: node === jobs ? places : new Map<string, string>(),
        stopping: new AbortController().signal,
        onFailed: error => {
          throw error
        },
      },
      { work: 'poll', atMs: DUE_MS },
      async job => {
        asked.push(job)
        await answer(job)
        return { changed: Promise.resolve(true) }
      },
    )
  return { clock, jobs, other: other.jobs, asked, places, sweep }
}

test('of two nodes that sweep at the same time, one asks about each job', async () => {
  const { jobs, other, asked, sweep } = await setUp(Array.from({ length: 150 }, () => 'pics'))

  const swept = await Promise.all([sweep(jobs), sweep(other)])

  expect(new Set(asked.map(({ id }) => id.tail)).size).toBe(150)
  expect(asked).toHaveLength(150)
  expect(swept.map(({ seen }) => seen).reduce((sum, seen) => sum + seen)).toBe(150)
})

test('a sweep gives back the jobs of a provider that is slow, and asks the other providers', async () => {
  const providers = [...Array.from({ length: 64 }, () => 'slow'), 'slow', 'quick', 'slow']
  const { clock, jobs, asked, sweep } = await setUp(providers)

  const sweeping = sweep(jobs, job => (job.provider === 'slow' ? new Promise(() => {}) : Promise.resolve()))
  while (asked.length < 64) await turn()
  clock.advance(SLOW_MS)
  while (asked.length < 65) await turn()
  const { seen } = await sweeping
  const due = await jobs.claim('poll', { atMs: clock.now(), limit: 100 }, clock.now() + 1)

  expect([seen, asked.at(-1)?.provider]).toEqual([65, 'quick'])
  expect(due.jobs.map(({ provider }) => provider)).toEqual(['slow', 'slow'])
})

test('a sweep that is out of time leaves the other jobs unclaimed, and the next one continues there', async () => {
  const { clock, jobs, asked, places, sweep } = await setUp(Array.from({ length: 70 }, () => 'pics'))
  // The first sweep runs out of time during its first calls.
  const first = sweep(jobs, () => new Promise(() => {}))
  while (asked.length < 64) await turn()
  clock.advance(10_000)
  await first
  const isPlaced = places.has('poll')

  await sweep(jobs)

  expect(isPlaced).toBe(true)
  expect(asked).toHaveLength(70)
  expect(new Set(asked.map(({ id }) => id.tail)).size).toBe(70)
  expect(places.size).toBe(0)
})
