import { expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aVideoJob, openJobs, record, soundBalance } from '../../../../test/support/job-builders.ts'
import { NOW } from '../../../../test/support/ledger-builders.ts'
import { sandboxProvider } from '../../../../test/support/media-providers.ts'
import { RUNNING, aClip, scriptedMedia } from '../../../../test/support/scripted-media.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { EMPTY_CATALOG } from '../../../domain/catalog/catalog.ts'
import { usd } from '../../../domain/money.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import type { PollOutcome } from '../../ports/providers/media-provider.ts'
import { NoMediaTries, Slots } from '../settle/fetch-result.ts'
import { watchJob } from './ask-provider.ts'

const providerCost = usd('0.25')

/** A job whose money was released while its provider worked, after one look at what the provider says now. */
async function watched(polled: PollOutcome) {
  const clock = fakeClock(NOW)
  const { jobs, payer, store } = await openJobs(sqlite, { clock })
  const { id } = await record(jobs, aVideoJob(payer, { provider: sandboxProvider.id }))
  await jobs.beginSubmit(id, NOW)
  await jobs.accept(id, { upstreamId: 'up-1', atMs: NOW, nextPollAtMs: NOW })
  const { job } = await jobs.fail(id, { reason: 'overdue', message: 'It took too long.', atMs: NOW })
  const provider = Object.assign(scriptedMedia(), { polled })
  const isBooked = await watchJob(job, {
    jobs,
    clock,
    blobs: await openDiskBlobs({ folder: aDataFolder() }),
    resultFetches: new Slots(1),
    noMedia: new NoMediaTries(),
    catalog: {
      current: () => ({ ...EMPTY_CATALOG, providers: new Map([[sandboxProvider.id, sandboxProvider]]) }),
    },
    providerOf: () => provider,
    secretsOf: () => [],
    fetchUntrusted: () => Promise.reject(new Error('not called')),
    onUnknownStatus: () => {},
    onFailed: (error: unknown) => {
      throw error
    },
  })
  await soundBalance(store, payer.accountId)
  return { isBooked, job: (await jobs.find(id))! }
}

test.each<[string, PollOutcome]>([
  ['could not make', { outcome: 'failed', message: 'Refused.', providerCost }],
  [
    'finished without a result',
    { outcome: 'finished', result: { outputs: [], isCounted: true, providerCost } },
  ],
])('a released job that its provider %s is not watched any more, and keeps its cost', async (_, polled) => {
  const { isBooked, job } = await watched(polled)

  expect(isBooked).toBe(false)
  expect(job).toMatchObject({ state: 'failed', watchUntilMs: null, loss: null, providerCost })
})

test('a released job that its provider finished is a loss, and keeps its cost', async () => {
  const { isBooked, job } = await watched(aClip({ durationMs: 5000, providerCost }))

  expect(isBooked).toBe(true)
  // 5 seconds at 0.5 USD.
  expect(job).toMatchObject({ state: 'failed', watchUntilMs: null, loss: usd('2.5'), providerCost })
})

test('a released job that its provider still makes is watched further', async () => {
  const { isBooked, job } = await watched(RUNNING)

  expect(isBooked).toBe(false)
  expect(job).toMatchObject({ watchUntilMs: expect.any(Number), providerCost: null })
})
