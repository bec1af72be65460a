import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { Deadlines } from '../deadlines.ts'
import type { PieceReceiver } from '../../http1/client/http-client.ts'
import { byteStream } from './byte-stream.ts'
import { Cutoff } from './cutoff.ts'

test('a stream that cannot be unpacked cuts the exchange that would go on', () => {
  let cuts = 0
  let receiver: PieceReceiver | undefined
  const limits = new Cutoff({ cut: () => (cuts += 1) }, new Deadlines(fakeClock()), undefined)
  const stream = byteStream(asking => (receiver = asking), limits, 1000)
  const given: unknown[] = []

  stream.read(piece => given.push(piece))
  receiver?.onFailed(Object.assign(new Error('bad'), { code: 'Z_DATA_ERROR' }))
  stream.read(piece => given.push(piece))

  const broken = { end: 'broken', reason: 'Z_DATA_ERROR' }
  expect(given).toEqual([broken, broken])
  expect(cuts).toBe(1)
})
