import { expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { DamagedResults } from '../../gateway/media/files/damaged-results.ts'
import { clipReply, readRange, type AskedRange } from './clip-reply.ts'
import { fakeConnection } from '../../http1/testing/fake-connection.ts'
import { getRequest } from '../../http1/testing/http-text.ts'
import { anId } from '../../../test/support/ledger-builders.ts'
import { turn } from '../../../test/support/turn.ts'

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

/** As `first-end`, with the end exclusive, or as its kind. */
function shown(range: AskedRange): string {
  return range.kind === 'part' ? `${range.start}-${range.end}` : range.kind
}

test.each([
  [null, 'whole'],
  ['bytes=0-0', '0-1'],
  ['bytes=0-99', '0-100'],
  ['bytes=10-19', '10-20'],
  ['bytes=90-', '90-100'],
  ['bytes=0-', '0-100'],
  ['bytes=-1', '99-100'],
  ['bytes=-100', '0-100'],
  ['bytes=-5000', '0-100'],
  ['bytes=50-5000', '50-100'],
  ['BYTES= 1-2 ', '1-3'],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=99999999999999999999-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  // A server may ignore these (RFC 9110, section 14.2).
  ['bytes=0-1,5-6', 'whole'],
  ['bytes=5-4', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=+1-2', 'whole'],
  ['bytes=1.0-2', 'whole'],
  ['items=0-1', 'whole'],
  ['', 'whole'],
])('of a file of 100 bytes, the range %p is %s', (header, range) => {
  expect(shown(readRange(header, 100))).toBe(range)
})

test.each([
  ['bytes=0-', 'unsatisfiable'],
  ['bytes=-1', 'unsatisfiable'],
  [null, 'whole'],
])('of an empty file, the range %p is %s', (header, range) => {
  expect(shown(readRange(header, 0))).toBe(range)
})
