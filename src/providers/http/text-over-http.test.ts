import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { nextOf } from '../../../test/support/next-of.ts'
import { Timers } from '../../http1/timers.ts'
import { Cutoff } from './cutoff.ts'
import { upstreamStream } from './text-over-http.ts'

test('a body that cannot be decompressed is broken, and its request is aborted', async () => {
  let aborts = 0
  const cutoff = new Cutoff(new Timers(fakeClock()), undefined)
  cutoff.addEventListener('abort', { handleEvent: () => (aborts += 1) })
  const failure = Object.assign(new Error('bad'), { code: 'Z_DATA_ERROR' })
  const body = { read: () => Promise.reject(failure), cancel() {} }
  const stream = upstreamStream(body, cutoff, 1000)

  const first = await nextOf(stream)

  const broken = { end: 'broken', reason: 'Z_DATA_ERROR' } as const
  expect(first).toEqual(broken)
  expect(await nextOf(stream)).toEqual(broken)
  expect(aborts).toBe(1)
})
