import { expect, test } from 'bun:test'
import { streamOf } from '../../test/support/byte-streams.ts'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { aFile, aJob, aResult, jobIn, openJobs, record } from '../../test/support/job-builders.ts'
import { anId } from '../../test/support/ledger-builders.ts'
import { sqlite } from '../../test/support/test-store.ts'
import type { Id } from '../domain/ids.ts'
import { publicId } from '../gateway/media/job-id.ts'
import { openDiskBlobs } from '../stores/disk/blobs.ts'
import { ORPHAN_AFTER_MS, sweepBlobs } from './sweep-blobs.ts'

async function setUp() {
  const { jobs, payer } = await openJobs(sqlite)
  const blobs = await openDiskBlobs({ folder: aDataFolder() })
  const write = async (key: string) => {
    await blobs.write(key, streamOf([new Uint8Array(7)]), { bytesMax: 100 })
    return key
  }
  const keyOf = (id: Id, file: string) => `${publicId({ id, kind: 'image' })}/${file}`
  /** Sweeps as if so much time had passed since all files were written. */
  const sweepAfter = (ms: number, { clock = fakeClock(), places = new Map<string, string>() } = {}) => {
    const ports = { jobs, blobs, places, clock, stopping: new AbortController().signal }
    return sweepBlobs(ports, Date.now() + ms)
  }
  const isThere = async (key: string) => {
    const blob = await blobs.read(key)
    blob?.stream.cancel()
    return blob !== undefined
  }
  return { jobs, payer, write, keyOf, sweepAfter, isThere }
}

/** Beyond the time that an orphan stays. */
const LATER_MS = ORPHAN_AFTER_MS + 60_000

test('a file whose job was never recorded is removed after an hour, and not before', async () => {
  const { write, keyOf, sweepAfter, isThere } = await setUp()
  const key = await write(keyOf(anId(), 'in-0'))

  const early = await sweepAfter(ORPHAN_AFTER_MS - 60_000)
  const wasThere = await isThere(key)
  const late = await sweepAfter(LATER_MS)

  expect([early.removed, wasThere, late.removed, await isThere(key)]).toEqual([0, true, 1, false])
})

test('a result whose job is unknown stays: it can belong to other books that share the storage', async () => {
  const { write, keyOf, sweepAfter, isThere } = await setUp()
  const key = await write(keyOf(anId(), 'out-0'))

  expect(await sweepAfter(LATER_MS)).toEqual({ removed: 0 })
  expect(await isThere(key)).toBe(true)
})

test.each(['queued', 'processing', 'unknown_submit'] as const)(
  'no file of a job that is %s is removed: it may not name its outputs yet',
  async state => {
    const { jobs, payer, write, keyOf, sweepAfter, isThere } = await setUp()
    const { id } = await jobIn(state, jobs, aJob(payer))
    const key = await write(keyOf(id, 'out-0'))

    expect(await sweepAfter(LATER_MS)).toEqual({ removed: 0 })
    expect(await isThere(key)).toBe(true)
  },
)

test('a sweep of slow files ends after ten seconds, and the next one continues behind the last file', async () => {
  const { write, keyOf, sweepAfter, isThere } = await setUp()
  const keys = [await write(keyOf(anId(), 'in-0')), await write(keyOf(anId(), 'in-0'))].sort()
  const clock = fakeClock()
  const places = new Map<string, string>()
  const slow = { ...clock, monotonicMs: () => (clock.advance(10_000), clock.monotonicMs()) }

  const first = await sweepAfter(LATER_MS, { clock: slow, places })
  const between = [await isThere(keys[0]!), await isThere(keys[1]!), places.get('files')]
  const second = await sweepAfter(LATER_MS, { clock, places })

  expect([first.removed, second.removed]).toEqual([1, 1])
  expect(between).toEqual([false, true, keys[0]!])
})

test('of a completed job, the outputs stay and everything else is removed', async () => {
  const { jobs, payer, write, keyOf, sweepAfter, isThere } = await setUp()
  const asked = aJob(payer)
  const input = await write(keyOf(asked.id, 'in-0'))
  const output = await write(keyOf(asked.id, 'out-0'))
  await record(jobs, asked)
  await jobs.complete(asked.id, aResult({ outputs: [aFile(output)] }))

  expect(await sweepAfter(LATER_MS)).toEqual({ removed: 1 })
  expect([await isThere(input), await isThere(output)]).toEqual([false, true])
})

test('an output of an archived job that is still among the live files is archived, not removed', async () => {
  const { jobs, payer, write, keyOf, sweepAfter, isThere } = await setUp()
  const asked = aJob(payer)
  const output = await write(keyOf(asked.id, 'out-0'))
  await record(jobs, asked)
  await jobs.complete(asked.id, aResult({ outputs: [aFile(output)] }))
  await jobs.archive(asked.id, Date.now())

  expect(await sweepAfter(LATER_MS)).toEqual({ removed: 0 })
  expect(await isThere(output)).toBe(false)
})
