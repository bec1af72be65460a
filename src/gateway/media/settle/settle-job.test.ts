import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { streamOf } from '../../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aVideoJob, HELD, openJobs, record, soundBalance } from '../../../../test/support/job-builders.ts'
import { NOW } from '../../../../test/support/ledger-builders.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import type { Bytes } from '../../../domain/bytes.ts'
import { EMPTY_CATALOG } from '../../../domain/catalog/catalog.ts'
import { usd, ZERO } from '../../../domain/money.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import type { FetchOutcome } from '../../ports/providers/untrusted-fetch.ts'
import { FETCHES_MAX, FETCH_AGAIN_MS, settleJob } from './settle-job.ts'
import { NoMediaTries, Slots } from './fetch-result.ts'

const media = join(import.meta.dirname, '../../../../test/fixtures/media')
const file = (name: string) => Uint8Array.from(readFileSync(join(media, name)))
/** A file, or something that is sent in place of one. */
function fixture(name: string): Bytes {
  if (name === 'page.html') return new TextEncoder().encode('<!doctype html><title>Not yet</title>')
  return name === 'clip-truncated.mp4' ? file('clip-faststart.mp4').subarray(0, 1900) : file(name)
}
const opened = (file: string): FetchOutcome => ({
  outcome: 'opened',
  contentType: 'application/octet-stream',
  body: Object.assign(streamOf([fixture(file)]), { failure: undefined }),
})
const broken: FetchOutcome = { outcome: 'failed', problem: 'ECONNRESET', isPermanent: false }

/** A running video job whose provider has finished it with a link. */
async function setUp() {
  const clock = fakeClock(NOW)
  const { jobs, payer, store } = await openJobs(sqlite, { clock })
  const { id } = await record(jobs, aVideoJob(payer))
  await jobs.accept(id, { upstreamId: 'up-1', atMs: NOW, nextPollAtMs: NOW })
  const ports = {
    jobs,
    clock,
    blobs: await openDiskBlobs({ folder: aDataFolder() }),
    resultFetches: new Slots(1),
    noMedia: new NoMediaTries(),
    catalog: { current: () => EMPTY_CATALOG },
    providerOf: () => undefined,
    secretsOf: () => [],
    onUnknownStatus: () => {},
    onFailed: (error: unknown) => {
      throw error
    },
  }
  const result = {
    outputs: [{ from: 'url', url: 'https://files.test/1' } as const],
    isCounted: true,
    durationMs: 5000,
  }
  const read = async () => (await jobs.find(id))!
  /** Settles the job once for each answer of the link, in order. Returns the job, and what it still holds. */
  const settle = async (answers: readonly (() => FetchOutcome)[]) => {
    for (const answer of answers) {
      clock.advance(FETCH_AGAIN_MS)
      await settleJob(await read(), result, { ...ports, fetchUntrusted: async () => answer() })
    }
    const { held } = await soundBalance(store, payer.accountId)
    return { job: await read(), held: held.media }
  }
  return { settle }
}

const times = (count: number, answer: () => FetchOutcome) => Array.from({ length: count }, () => answer)

describe.each(['image.png', 'image.webp', 'clip-truncated.mp4', 'page.html'])(
  'a link that gives %s instead of the clip',
  name => {
    const wrong = () => opened(name)

    test('a link that gives something other than the clip is tried again until the last try, and the job and its hold stay open', async () => {
      const { settle } = await setUp()

      const { job, held } = await settle(times(FETCHES_MAX - 1, wrong))

      expect(job).toMatchObject({ state: 'processing', loss: null })
      expect(held).toBe(HELD)
      expect(job.problem).toContain(`(try ${FETCHES_MAX - 1} of ${FETCHES_MAX})`)
    })

    test('a link that gives something other than the clip is lost after the last try: the hold is released, and the price is a loss', async () => {
      const { settle } = await setUp()

      const { job, held } = await settle(times(FETCHES_MAX, wrong))

      expect(job).toMatchObject({ state: 'failed', failure: { reason: 'result_lost' }, cost: null })
      expect(held).toBe(ZERO)
      // 5 seconds at 0.5 USD.
      expect(job.loss).toBe(usd('2.5'))
    })

    test('a link that gives something other than the clip is charged if it gives the clip at the last try', async () => {
      const { settle } = await setUp()

      const { job, held } = await settle([...times(FETCHES_MAX - 1, wrong), () => opened('clip.mp4')])

      expect(job).toMatchObject({ state: 'completed', loss: null })
      expect(held).toBe(ZERO)
    })
  },
)

test('a link that fails for now is tried again without a limit, and does not count as one that gives no media', async () => {
  const { settle } = await setUp()

  const { job, held } = await settle([
    ...times(FETCHES_MAX - 1, () => opened('image.png')),
    ...times(FETCHES_MAX + 1, () => broken),
  ])

  expect(job).toMatchObject({ state: 'processing', loss: null })
  expect(held).toBe(HELD)
})
