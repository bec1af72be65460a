import { expect, test } from 'bun:test'
import { getRequest } from '../../http1/testing/http-text.ts'
import { fakeConnection } from '../../http1/testing/fake-connection.ts'
import { turn } from '../../../test/support/turn.ts'
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
  const file = { key: 'vid_1/out-0', sha256: 'ab', bytes, mediaType: 'video/mp4' }
  return { source, file, blobs: { read: async () => ({ bytes, stream }) } }
}

test.each([
  ['video/mp4', 'video/mp4'],
  ['video/x-matroska', 'video/x-matroska'],
  ['text/html', 'application/octet-stream'],
  ['video/mp4, text/html', 'application/octet-stream'],
  ['image/svg+xml', 'application/octet-stream'],
])('what a provider calls %s is sent as %s', async (mediaType, sent) => {
  const { file, blobs } = aLargeClip()
  const request = { method: 'GET', header: () => null }

  const { headers } = await clipReply({ ...file, mediaType }, request, blobs)

  expect(headers['content-type']).toBe(sent)
})

test('a clip is read only as fast as its reader takes it, and no further once the reader has left', async () => {
  const { source, file, blobs } = aLargeClip()
  const fake = fakeConnection(request => {
    void clipReply(file, request, blobs).then(reply => request.respond(reply))
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
