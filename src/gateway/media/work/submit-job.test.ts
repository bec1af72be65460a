import { expect, test } from 'bun:test'
import { streamOf } from '../../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { fakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts'
import { aVideoJob, openJobs, record } from '../../../../test/support/job-builders.ts'
import { NOW } from '../../../../test/support/ledger-builders.ts'
import { sandboxProvider } from '../../../../test/support/media-providers.ts'
import { scriptedMedia } from '../../../../test/support/scripted-media.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { turn } from '../../../../test/support/turn.ts'
import { EMPTY_CATALOG } from '../../../domain/catalog/catalog.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import { inputSpool } from '../../byte-budgets/body-budgets.ts'
import { NoMediaTries, Slots } from '../settle/fetch-result.ts'
import type { NewJob } from '../../ports/media/jobs.ts'
import { submitJob, type SubmitPorts } from './submit-job.ts'

const UNKNOWN_SUBMIT_TTL_MS = 900_000
/** The pause before the answer to a submission is recorded again. */
const RECORD_AGAIN_MS = 5000

type Setup = {
  readonly change?: Partial<NewJob>
  readonly ports?: Partial<SubmitPorts>
  readonly clock?: FakeClock
}

/** A recorded job, and a provider that counts submits. */
async function setUp({ change = {}, ports: changed = {}, clock = fakeClock(NOW) }: Setup = {}) {
  const { jobs, payer } = await openJobs(sqlite, { clock })
  const job = await record(jobs, aVideoJob(payer, { provider: sandboxProvider.id, ...change }))
  const provider = scriptedMedia()
  const ports = {
    jobs,
    clock,
    resultFetches: new Slots(1),
    noMedia: new NoMediaTries(),
    inputSpool: inputSpool(1_000_000, clock),
    blobs: await openDiskBlobs({ folder: aDataFolder() }),
    catalog: {
      current: () => ({ ...EMPTY_CATALOG, providers: new Map([[sandboxProvider.id, sandboxProvider]]) }),
    },
    providerOf: () => provider,
    secretsOf: () => [],
    fetchUntrusted: () => Promise.reject(new Error('not called')),
    isPrivate: async () => false,
    onUnknownStatus: () => {},
    onFailed: (error: unknown) => {
      throw error
    },
    ...changed,
  }
  return {
    job,
    jobs,
    provider,
    submit: () => submitJob(job, ports, { unknownSubmitTtlMs: UNKNOWN_SUBMIT_TTL_MS }),
  }
}

test('a job is sent once, however often its submission is asked for', async () => {
  const { submit, provider } = await setUp()

  const states = (await Promise.all([submit(), submit(), submit()])).map(({ state }) => state)
  const later = await submit()

  expect(provider.submits).toHaveLength(1)
  expect(states).toContain('processing')
  expect(later.state).toBe('processing')
})

test('a job that was given up before its submission began is not sent', async () => {
  const { job, jobs, submit, provider } = await setUp()
  await jobs.loseSubmit(job.id, { problem: 'The gateway stopped.', atMs: NOW, deadlineAtMs: NOW })

  const { state } = await submit()

  expect(state).toBe('unknown_submit')
  expect(provider.submits).toEqual([])
})

test('the submission is marked before its first byte leaves', async () => {
  const { job, jobs, submit, provider } = await setUp()
  const answer = Promise.withResolvers<{ outcome: 'accepted'; upstreamId: string }>()
  provider.submitted = answer.promise

  const submitting = submit()
  while (provider.submits.length === 0) await turn()
  const marked = await jobs.find(job.id)
  answer.resolve({ outcome: 'accepted', upstreamId: 'up-1' })
  await submitting

  expect(marked).toMatchObject({ state: 'queued', submittedAtMs: NOW })
})

test('an answer that cannot be recorded is recorded by a later try', async () => {
  const full = new Error('ENOSPC')
  const reported: unknown[] = []
  const clock = fakeClock(NOW)
  const { job, jobs, submit, provider } = await setUp({
    clock,
    ports: { onFailed: error => void reported.push(error) },
  })
  const accept = jobs.accept.bind(jobs)
  jobs.accept = async (...args) => {
    if (reported.length < 3) throw full
    return accept(...args)
  }

  const submitting = submit()
  for (let tries = 1; tries <= 3; tries += 1) {
    while (clock.waitingFor(RECORD_AGAIN_MS) === 0) await turn()
    clock.advance(RECORD_AGAIN_MS)
  }
  const { state } = await submitting

  expect(state).toBe('processing')
  expect((await jobs.find(job.id))?.upstreamId).not.toBeNull()
  expect(provider.submits).toHaveLength(1)
  expect(reported).toEqual([full, full, full])
})

test('a submission that failed inside the gateway may have been sent, so its money stays held', async () => {
  const bug = new TypeError('a bug in an adapter')
  const reported: unknown[] = []
  const { submit, provider } = await setUp({ ports: { onFailed: error => void reported.push(error) } })
  provider.submit = () => Promise.reject(bug)

  const { state, deadlineAtMs } = await submit()

  expect(state).toBe('unknown_submit')
  expect(deadlineAtMs).toBe(NOW + UNKNOWN_SUBMIT_TTL_MS)
  expect(reported).toEqual([bug])
})

test('a link whose file cannot be stored goes to the provider as it is', async () => {
  const full = new Error('ENOSPC')
  const reported: unknown[] = []
  const link = { from: 'url', url: 'https://example.com/a.png' } as const
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
  const body = Object.assign(streamOf([png]), { failure: undefined })
  const blobs = await openDiskBlobs({ folder: aDataFolder() })
  const { submit, provider } = await setUp({
    change: { request: { prompt: 'Waves', params: {}, count: 1, images: [link], videos: [] } },
    ports: {
      blobs: { ...blobs, write: () => Promise.reject(full) },
      fetchUntrusted: async () => ({ outcome: 'opened', contentType: 'image/png', body }),
      onFailed: error => void reported.push(error),
    },
  })

  const { state } = await submit()

  expect(state).toBe('processing')
  expect(provider.submits.map(({ images }) => images)).toEqual([[link]])
  expect([reported, body.isCancelled]).toEqual([[full], true])
})

test('an image job with a link is not sent to a provider that may get no links since it was created', async () => {
  const images = [{ from: 'url', url: 'https://example.com/a.png' } as const]
  const { submit, provider } = await setUp({
    change: { kind: 'image', request: { prompt: 'A', params: {}, count: 1, images, videos: [] } },
    ports: { isPrivate: async () => true },
  })

  const { state, failure } = await submit()

  expect([state, failure?.code]).toEqual(['failed', 'FILE_DOWNLOAD_FAILED'])
  expect(provider.submits).toEqual([])
})
