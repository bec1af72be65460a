import { expect, test } from 'bun:test'
import { getRequest } from '../../http1/testing/http-text.ts'
import { fakeConnection } from '../../http1/testing/fake-connection.ts'
import { turn } from '../../../test/support/turn.ts'
import { anId } from '../../../test/support/ledger-builders.ts'
import { usd } from '../../domain/money.ts'
import { DamagedResults } from '../../gateway/media/damaged-results.ts'
import { clipReply } from './clip-reply.ts'

const PIECE = new Uint8Array(100_000)
const PIECES = 1000

/** A clip of a hundred megabytes, which counts what is read of it. */
function aLargeClip() {
  const source = { reads: 0, isCancelled: false }
  const stream = {
    async read() {
      source.reads += 1
      return source.reads > PIECES || source.isCancelled ? undefined : PIECE
    },
    cancel: () => void (source.isCancelled = true),
  }
  const bytes = PIECE.length * PIECES
  const clip = { key: 'vid_1/out-0', sha256: 'ab', bytes, mediaType: 'video/mp4' }
  const job = { id: anId(), kind: 'video', model: 'film-1', cost: usd('3') } as const
  const ports = {
    blobs: { readIntact: async () => ({ bytes, stream }) },
    damagedResults: new DamagedResults(() => {}),
  }
  return { source, job, clip, ports }
}

test.each([
  ['video/mp4', 'video/mp4'],
  ['video/x-matroska', 'video/x-matroska'],
  ['text/html', 'application/octet-stream'],
  ['video/mp4, text/html', 'application/octet-stream'],
  ['image/svg+xml', 'application/octet-stream'],
])('what a provider calls %s is sent as %s', async (mediaType, sent) => {
  const { job, clip, ports } = aLargeClip()
  const request = { method: 'GET', header: () => null }

  const { headers } = await clipReply({ job, clip: { ...clip, mediaType } }, request, ports)

  expect(headers['content-type']).toBe(sent)
})

test('a clip is read only as fast as its reader takes it, and no further once the reader has left', async () => {
  const { source, job, clip, ports } = aLargeClip()
  const fake = fakeConnection(request => {
    void clipReply({ job, clip }, request, ports).then(reply => request.respond(reply))
  })
  fake.room = 250_000
  fake.send(getRequest())
  for (let turns = 0; turns < 10; turns += 1) await turn()
  const stalled = source.reads
  fake.drain(300_000)
  for (let turns = 0; turns < 10; turns += 1) await turn()
  const later = source.reads
  fake.connection.onClose()
  await turn()

  expect([stalled, later, source.reads]).toEqual([3, 6, 6])
  expect(source.isCancelled).toBe(true)
})
