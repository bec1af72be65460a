import { expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aVideoJob, openJobs, record, UNKNOWN_DEADLINE_MS } from '../../../../test/support/job-builders.ts'
import { NOW } from '../../../../test/support/ledger-builders.ts'
import { sandboxProvider } from '../../../../test/support/media-providers.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { RUNNING, scriptedMedia } from '../../../../test/support/scripted-media.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { turn } from '../../../../test/support/turn.ts'
import { EMPTY_CATALOG } from '../../../domain/catalog/catalog.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import { inputSpool } from '../../byte-budgets/body-budgets.ts'
import type { Jobs } from '../../ports/media/jobs.ts'
import type { PollOutcome } from '../../ports/providers/media-provider.ts'
import { NoMediaTries, Slots } from '../settle/fetch-result.ts'
import { CALL_CLAIM_MS, JobRunner } from './job-runner.ts'

/** A running job, and the runners of two nodes that poll it at one provider. */
async function setUp() {
  const clock = fakeClock(NOW)
  const { jobs, other, payer } = await openJobs(sqlite, { clock })
  const { id } = await record(jobs, aVideoJob(payer, { provider: sandboxProvider.id }))
  await jobs.beginSubmit(id, NOW)
  const { job } = await jobs.accept(id, { upstreamId: 'up-1', atMs: NOW, nextPollAtMs: NOW })
  const provider = scriptedMedia()
  const reported: unknown[] = []
  const blobs = await openDiskBlobs({ folder: aDataFolder() })
  const runnerOf = (node: Jobs) =>
    new JobRunner(
      {
        jobs: node,
        clock,
        blobs,
        resultFetches: new Slots(1),
        noMedia: new NoMediaTries(),
        inputSpool: inputSpool(1_000_000, clock),
        catalog: {
          current: () => ({ ...EMPTY_CATALOG, providers: new Map([[sandboxProvider.id, sandboxProvider]]) }),
        },
        providerOf: () => provider,
        secretsOf: () => [],
        fetchUntrusted: () => Promise.reject(new Error('not called')),
        isPrivate: async () => false,
        onUnknownStatus: () => {},
        onFailed: (error: unknown) => void reported.push(error),
      },
      { unknownSubmitTtlMs: 900_000 },
    )
  return {
    clock,
    jobs,
    other: other.jobs,
    job,
    provider,
    reported,
    runner: runnerOf(jobs),
    otherRunner: runnerOf(other.jobs),
    nextPollAtMs: async () => (await jobs.find(id))!.nextPollAtMs,
  }
}

test('of two nodes that poll a job at the same time, one asks the provider', async () => {
  const { job, provider, runner, otherRunner } = await setUp()

  await Promise.all([runner.poll(job), otherRunner.poll(job), runner.poll(job)])

  expect(provider.polls).toBe(1)
})

test('a poll that leaves the job running is followed by one when the provider allows it', async () => {
  const { clock, job, provider, runner, otherRunner, nextPollAtMs } = await setUp()

  await runner.poll(job)
  expect(await nextPollAtMs()).toBe(NOW + provider.pollEveryMsMin)
  clock.advance(provider.pollEveryMsMin)
  await otherRunner.poll(job)

  expect(provider.polls).toBe(2)
})

test('a job whose node died during a poll is polled by another node after the claim', async () => {
  const { clock, job, provider, runner, otherRunner } = await setUp()
  provider.polled = new Promise<PollOutcome>(() => {})
  void runner.poll(job)
  while (provider.polls === 0) await turn()
  provider.polled = RUNNING

  clock.advance(CALL_CLAIM_MS - 1)
  await otherRunner.poll(job)
  const during = provider.polls
  clock.advance(1)
  await otherRunner.poll(job)

  expect([during, provider.polls]).toEqual([1, 2])
})

test('a poll that fails inside the gateway ends its claim, so that another node can poll at once', async () => {
  const { job, provider, reported, runner, otherRunner, nextPollAtMs } = await setUp()
  const bug = new TypeError('a bug in an adapter')
  const { poll } = provider
  provider.poll = () => Promise.reject(bug)

  const error = await rejection(runner.poll(job))
  await runner.idle()
  provider.poll = poll
  const free = await nextPollAtMs()
  await otherRunner.poll(job)

  expect([error, ...reported]).toEqual([bug, bug])
  expect([free, provider.polls]).toEqual([NOW, 1])
})

test('a claimed job that this node already works on, or that failed a moment ago, is given back', async () => {
  const { clock, job, jobs, provider, runner, nextPollAtMs } = await setUp()
  const answer = Promise.withResolvers<PollOutcome>()
  provider.polled = answer.promise
  const polling = rejection(runner.poll(job))
  while (provider.polls === 0) await turn()
  clock.advance(CALL_CLAIM_MS)
  const claim = async () =>
    (await jobs.claim('poll', { atMs: clock.now(), limit: 1 }, clock.now() + CALL_CLAIM_MS)).jobs[0]!

  await runner.pollClaimed(await claim())
  const whileRunning = await nextPollAtMs()
  answer.reject(new TypeError('a bug in an adapter'))
  await polling
  await runner.pollClaimed(await claim())

  expect([whileRunning, await nextPollAtMs()]).toEqual([clock.now(), clock.now()])
  expect(provider.polls).toBe(1)
})

test('a claimed job of an unknown submission that its provider does not know is due again at once', async () => {
  const { clock, jobs, job, runner } = await setUp()
  const { id } = await record(jobs, aVideoJob(job, { provider: sandboxProvider.id }))
  await jobs.loseSubmit(id, { problem: 'ECONNRESET', atMs: NOW, deadlineAtMs: UNKNOWN_DEADLINE_MS })
  const page = await jobs.claim('recover', { atMs: NOW, limit: 1 }, NOW + CALL_CLAIM_MS)

  const { settled } = await runner.recover(page.jobs[0]!)

  expect((await settled).state).toBe('unknown_submit')
  expect((await jobs.find(id))?.nextPollAtMs).toBe(clock.now())
})

test('a claimed job that is watched, and that its provider still makes, is due again at once', async () => {
  const { clock, jobs, job, runner, nextPollAtMs } = await setUp()
  await jobs.fail(job.id, { reason: 'overdue', message: 'It took too long.', atMs: NOW })
  const page = await jobs.claim('watch', { atMs: NOW, limit: 1 }, NOW + CALL_CLAIM_MS)

  const isBooked = await runner.watch(page.jobs[0]!)

  expect([isBooked, await nextPollAtMs()]).toEqual([false, clock.now()])
})
