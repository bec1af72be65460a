import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'bun:test'
import { aRecordedRequest, aRequestId } from '../../../test/conformance/request-records.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { openRequestStore } from '../../stores/sqlite/request-records/open-request-store.ts'
import type { RecordedRequest } from '../ports/requests/request-records.ts'
import {
  QUEUE_MAX,
  REFUSALS_COUNTED_MAX,
  RequestRecorder,
  SWEEP_EVERY_MS,
  WRITE_EVERY_MS,
} from './request-recorder.ts'

const BOUNDS = { keptMs: 7 * 86_400_000, rowsMax: 1_000_000, bytesMax: 268_435_456 }
const patient = { after: () => () => undefined }
const opened: RequestRecorder[] = []

function aRecorder({ folder = aDataFolder(), refusalsPerMinute = 3 } = {}) {
  const clock = fakeClock()
  const problems: string[] = []
  const path = join(folder, 'requests.sqlite')
  const store = openRequestStore({ path, bounds: BOUNDS }, { clock: patient, onDamaged: () => undefined })
  const recorder = new RequestRecorder(
    { store, clock, onProblem: problem => problems.push(problem) },
    { refusalsPerMinute },
  )
  opened.push(recorder)
  return { recorder, store, clock, problems }
}

const REFUSED_AT_MS = 1_800_000_000_000

function refusalId(id: number): string {
  return aRequestId(id, REFUSED_AT_MS + id)
}

function refusal(id: number, members: Partial<RecordedRequest> = {}): RecordedRequest {
  return aRecordedRequest({
    id: refusalId(id),
    atMs: REFUSED_AT_MS + id,
    status: 402,
    errorCode: 'insufficient_balance',
    attempts: [],
    ...members,
  })
}

afterEach(async () => {
  for (const recorder of opened.splice(0)) await recorder.close()
})

describe('a recorder', () => {
  test('a record is written without being asked for, a quarter of a second later', async () => {
    const { recorder, store, clock } = aRecorder()
    recorder.add(aRecordedRequest())
    const { requests: before } = await store.list({ limit: 1 })

    clock.advance(WRITE_EVERY_MS)

    expect(before).toEqual([])
    expect(await store.find(aRequestId(1))).toEqual(aRecordedRequest())
  })

  test('a list has the records that were added before it', async () => {
    const { recorder } = aRecorder()
    recorder.add(aRecordedRequest({ id: aRequestId(1) }))
    const first = recorder.list({ limit: 9 })
    recorder.add(aRecordedRequest({ id: aRequestId(2) }))
    const second = recorder.list({ limit: 9 })

    expect((await first).requests.map(({ id }) => id)).toContain(aRequestId(1))
    expect((await second).requests.map(({ id }) => id)).toEqual([aRequestId(2), aRequestId(1)])
  })

  test('records that do not fit into the queue are lost, counted and reported once', async () => {
    const { recorder, problems } = aRecorder()
    for (let index = 0; index < QUEUE_MAX + 10; index += 1)
      recorder.add(aRecordedRequest({ id: aRequestId(index) }))
    const { problem } = recorder

    await recorder.find('')

    expect(problem).toBe('more requests ended than could be written')
    expect(problems).toHaveLength(1)
    expect(recorder.counts).toEqual({ written: QUEUE_MAX, dropped: 10, suppressed: 0 })
    expect(recorder.problem).toBeUndefined()
  })

  test('records of a file that cannot be written are lost and counted, and nothing else fails', async () => {
    const { recorder, clock, problems } = aRecorder({ folder: '/proc/nowhere' })
    recorder.add(aRecordedRequest())

    const listed = await recorder.list({ limit: 1 }).catch((error: unknown) => error)
    recorder.add(aRecordedRequest())
    clock.advance(WRITE_EVERY_MS)

    expect(listed).toMatchObject({ code: 'unavailable' })
    expect(recorder.counts).toMatchObject({ written: 0, dropped: 1 })
    expect(recorder.problem).toContain('ENOENT')
    expect(problems).toHaveLength(1)
  })

  test('old records are deleted while nothing is written', async () => {
    const { recorder, store, clock } = aRecorder()
    const old = aRecordedRequest({ atMs: clock.now() - BOUNDS.keptMs - 1 })
    recorder.add(old)
    const before = await recorder.find(old.id)
    recorder.start()

    clock.advance(SWEEP_EVERY_MS)

    expect(before).toEqual(old)
    expect(await store.find(old.id)).toBeUndefined()
  })

  test('closing a recorder writes what waits, and leaves no timer', async () => {
    const folder = aDataFolder()
    const { recorder, clock } = aRecorder({ folder })
    recorder.start()
    recorder.add(aRecordedRequest())

    await recorder.close()
    recorder.add(aRecordedRequest({ id: aRequestId(2) }))

    expect(clock.waiting).toBe(0)
    expect((await aRecorder({ folder }).recorder.list({ limit: 9 })).requests).toEqual([aRecordedRequest()])
  })
})

describe('refusals', () => {
  test('of many refusals of one key and code in a minute a few are kept, and the last has the count of the rest', async () => {
    const { recorder } = aRecorder()
    const isKept = Array.from({ length: 1000 }, (_, index) => recorder.add(refusal(index)))

    const { requests } = await recorder.list({ limit: 9 })

    expect(requests.map(({ id, alikeRefusals }) => [id, alikeRefusals])).toEqual([
      [refusalId(2), 997],
      [refusalId(1), 0],
      [refusalId(0), 0],
    ])
    expect(recorder.counts).toEqual({ written: 3, dropped: 0, suppressed: 997 })
    expect(isKept.lastIndexOf(true)).toBe(2)
  })

  test('the count of the rest grows until the end of the minute, and the next minute begins anew', async () => {
    const { recorder, clock } = aRecorder({ refusalsPerMinute: 1 })
    for (const id of [0, 1]) recorder.add(refusal(id))
    const first = await recorder.find(refusalId(0))
    recorder.add(refusal(2))
    const second = await recorder.find(refusalId(0))
    clock.advance(60_000)
    recorder.add(refusal(3))

    expect([first?.alikeRefusals, second?.alikeRefusals]).toEqual([1, 2])
    expect((await recorder.find(refusalId(3)))?.alikeRefusals).toBe(0)
  })

  test('each key and each code has its own refusals', async () => {
    const { recorder } = aRecorder({ refusalsPerMinute: 1 })
    recorder.add(refusal(0))
    recorder.add(refusal(1, { errorCode: 'requests_per_minute' }))
    recorder.add(refusal(2, { apiKeyId: 'key_2' }))

    expect((await recorder.list({ limit: 9 })).requests).toHaveLength(3)
  })

  test.each([
    ['a charged request', { status: 200, errorCode: 'upstream_error' }],
    ['a request that held money before it failed', { held: 5n }],
    ['a job', { jobId: 'img_1' }],
    ['a replay', { status: 200, isReplay: true }],
  ] as [string, Partial<RecordedRequest>][])('%s is no refusal, so all are kept', async (_, members) => {
    const { recorder } = aRecorder({ refusalsPerMinute: 1 })
    for (const id of [0, 1, 2]) recorder.add(refusal(id, members))

    expect((await recorder.list({ limit: 9 })).requests).toHaveLength(3)
  })

  test('refusals of very many keys take bounded memory', () => {
    const { recorder } = aRecorder({ refusalsPerMinute: 1 })
    for (let key = 0; key < REFUSALS_COUNTED_MAX + 50; key += 1)
      recorder.add(refusal(key, { apiKeyId: `key_${key}` }))

    expect(recorder.counts).toEqual({ written: 0, dropped: 0, suppressed: 50 })
  })
})
