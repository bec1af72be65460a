import { expect, test } from 'bun:test'
import { nextOf } from '../../../test/support/next-of.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { Deadlines } from '../deadlines.ts'
import type { PieceReceiver } from '../../http1/client/http-client.ts'
import { byteStream } from './byte-stream.ts'
import { Cutoff } from './cutoff.ts'

test('a body that cannot be decompressed is broken, and its exchange is cut', async () => {
  let cuts = 0
  let receiver: PieceReceiver | undefined
  const limits = new Cutoff({ cut: () => (cuts += 1) }, new Deadlines(fakeClock()), undefined)
  const stream = byteStream(asking => (receiver = asking), limits, 1000)

  const first = nextOf(stream)
  receiver?.onFailed(Object.assign(new Error('bad'), { code: 'Z_DATA_ERROR' }))

  const broken = { end: 'broken', reason: 'Z_DATA_ERROR' } as const
  expect(await first).toEqual(broken)
  expect(await nextOf(stream)).toEqual(broken)
  expect(cuts).toBe(1)
})
