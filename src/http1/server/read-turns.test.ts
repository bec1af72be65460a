import { describe, expect, test } from 'bun:test'
import { postHead } from '../testing/http-text.ts'
import { rejection } from '../testing/rejection.ts'
import { fakeConnection } from '../testing/fake-connection.ts'
import { turn } from '../testing/turn.ts'
import { HttpError } from './http-error.ts'
import { IDLE_TIMEOUT_MS, WHOLE_BODY_BYTES_MAX } from './limits.ts'
import { ReadTurns, TURN_BYTES_MAX } from './read-turns.ts'
import { RequestBody } from './request-body.ts'
import type { ServerRequest } from './server-request.ts'

const PIECE_BYTES = TURN_BYTES_MAX / 2
const LIMITS = { bytesMax: 1 << 30, idleMs: 10_000, totalMs: 20_000 }

/** A server whose turns end when `endTurn` is called, and whose connections share its turns. */
function aServer() {
  const due: (() => void)[] = []
  const readTurns = new ReadTurns(then => void due.push(then))
  const clock = { tick: 0 }
  return {
    clock,
    endTurn: () => due.splice(0).forEach(then => then()),
    upload: (bytes: number) => {
      const connection = {
        readTurns,
        onBodyRead: () => undefined,
        get tick() {
          return clock.tick
        },
      }
      const body = new RequestBody(bytes, connection)
      body.open(LIMITS)
      return body
    },
  }
}

/** The number of bytes that a read has given, once it has. */
function lengthOf(read: Promise<Uint8Array | undefined>): { length: number | undefined } {
  const given: { length: number | undefined } = { length: undefined }
  void read.then(bytes => (given.length = bytes?.length ?? 0))
  return given
}

const piece = (bytes = PIECE_BYTES) => Buffer.alloc(bytes, 'x')
describe('a turn of the event loop', () => {
  test('a turn of the event loop gives handlers a bounded number of bytes, and the later turns give the rest in order', async () => {
    const { upload, endTurn } = aServer()
    const bodies = Array.from({ length: 6 }, () => upload(PIECE_BYTES))
    const reads = bodies.map(body => lengthOf(body.read()))
    const given = async () => {
      await turn()
      return reads.filter(({ length }) => length === PIECE_BYTES).length
    }

    for (const body of bodies) body.feed(piece(), 0)
    const first = await given()
    endTurn()
    const second = await given()
    endTurn()

    expect([first, second, await given()]).toEqual([2, 4, 6])
    expect(reads.slice(0, 4).every(({ length }) => length === PIECE_BYTES)).toBe(true)
  })

  test('a turn of the event loop gives at least one piece, however large it is', async () => {
    const { upload } = aServer()
    const body = upload(4 * TURN_BYTES_MAX)
    const read = lengthOf(body.read())

    body.feed(piece(4 * TURN_BYTES_MAX), 0)
    await turn()

    expect(read.length).toBe(4 * TURN_BYTES_MAX)
  })

  test('a turn of the event loop is not used up by a reader that has gone', async () => {
    const { upload, endTurn } = aServer()
    const [first, gone, last] = [upload(TURN_BYTES_MAX), upload(TURN_BYTES_MAX), upload(TURN_BYTES_MAX)]
    const reads = [first, gone, last].map(body => lengthOf(body.read()))
    for (const body of [first, gone, last]) body.feed(piece(TURN_BYTES_MAX), 0)

    gone.cancel()
    endTurn()
    await turn()

    expect(reads.map(({ length }) => length)).toEqual([TURN_BYTES_MAX, 0, TURN_BYTES_MAX])
  })
})

describe('a body that waits for its turn', () => {
  /** An upload whose first piece has arrived in a turn that others have used up. */
  function waiting(bytes: number) {
    const server = aServer()
    const other = server.upload(TURN_BYTES_MAX)
    void other.read()
    other.feed(piece(TURN_BYTES_MAX), 0)
    const body = server.upload(bytes)
    return { ...server, body }
  }

  test('a body that waits for its turn is read in the order of its bytes, including bytes that arrive during the read', async () => {
    const { body, endTurn } = waiting(6)
    const read = body.read()
    body.feed(Buffer.from('abc'), 0)
    body.feed(Buffer.from('def'), 0)

    endTurn()

    expect(Buffer.from((await read) ?? '').toString()).toBe('abcdef')
    expect(await body.read()).toBeUndefined()
  })

  test('a body that waits for its turn also waits if its bytes arrived before they were read', async () => {
    const { body, endTurn } = waiting(3)
    body.feed(Buffer.from('abc'), 0)
    const read = lengthOf(body.read())
    await turn()
    const before = read.length

    endTurn()
    await turn()

    expect([before, read.length]).toEqual([undefined, 3])
  })

  test('a body that waits for its turn does not use up the time of its client', async () => {
    const { body, clock, endTurn } = waiting(6)
    void body.read()
    const deadline = body.deadlineTick
    body.feed(Buffer.from('abc'), 0)

    clock.tick += 1000
    const whileWaiting = body.deadlineTick
    endTurn()
    void body.read()

    expect(deadline).toBeLessThan(1000)
    expect(whileWaiting).toBe(Infinity)
    expect(body.deadlineTick - clock.tick).toBe(deadline)
  })

  test('a body that waits for its turn fails at once when its client disconnects', async () => {
    const { body, endTurn } = waiting(6)
    const read = body.read()
    body.feed(Buffer.from('abc'), 0)

    body.fail(new HttpError('client_disconnected', 'gone'))
    endTurn()

    expect(await rejection(read)).toMatchObject({ code: 'client_disconnected' })
  })
})

describe('a body that arrives with its head', () => {
  /** A request on a connection, in a turn that others have used up. */
  function arrived(bytes: number) {
    const due: (() => void)[] = []
    const readTurns = new ReadTurns(then => void due.push(then))
    readTurns.tryTake(TURN_BYTES_MAX)
    const fake = fakeConnection(undefined, {}, readTurns)
    fake.send(Buffer.concat([Buffer.from(postHead(`content-length: ${bytes}`)), piece(bytes)]))
    return { fake, request: fake.requests[0]!.request, endTurn: () => due.splice(0).forEach(then => then()) }
  }

  const ways: Readonly<Record<string, (request: ServerRequest) => Promise<Uint8Array | undefined>>> = {
    text: request => request.text(LIMITS).then(({ text }) => Buffer.from(text)),
    bytes: request => request.bytes(LIMITS),
    'a stream': request => request.stream(LIMITS).read(),
  }

  test.each(Object.entries(ways))(
    'a body that arrives with its head waits for its turn if it is large: read as %s',
    async (_, readAs) => {
      const { request, endTurn } = arrived(WHOLE_BODY_BYTES_MAX + 1)

      const read = lengthOf(readAs(request))
      await turn()
      const before = read.length
      endTurn()
      await turn()

      expect([before, read.length]).toEqual([undefined, WHOLE_BODY_BYTES_MAX + 1])
    },
  )

  test.each(Object.entries(ways))(
    'a body that arrives with its head does not wait if it is small: read as %s',
    async (_, readAs) => {
      const { request } = arrived(WHOLE_BODY_BYTES_MAX)

      const read = lengthOf(readAs(request))
      await turn()

      expect(read.length).toBe(WHOLE_BODY_BYTES_MAX)
    },
  )

  test('a body that arrives with its head has no time limit while it waits', async () => {
    const { fake, request, endTurn } = arrived(WHOLE_BODY_BYTES_MAX + 1)
    const body = request.bytes(LIMITS)

    fake.pass(1000)
    endTurn()

    expect(await body).toHaveLength(WHOLE_BODY_BYTES_MAX + 1)
  })

  test('a body that arrives with its head can be read after its client has disconnected, because it is complete', async () => {
    const { fake, request, endTurn } = arrived(WHOLE_BODY_BYTES_MAX + 1)
    const body = request.bytes(LIMITS)

    fake.connection.onClose()
    endTurn()

    expect(await body).toHaveLength(WHOLE_BODY_BYTES_MAX + 1)
    expect(request.clientDisconnected).toBe(true)
  })

  test('a body that arrives with its head gives no bytes after its stream was cancelled', async () => {
    const { request, endTurn } = arrived(WHOLE_BODY_BYTES_MAX + 1)
    const stream = request.stream(LIMITS)
    const read = lengthOf(stream.read())

    stream.cancel()
    endTurn()
    await turn()

    expect(read.length).toBe(0)
    expect(await stream.read()).toBeUndefined()
  })

  test('a body that arrives with its head does not change the time limits of its connection if its turn comes after the response', async () => {
    const { fake, request, endTurn } = arrived(WHOLE_BODY_BYTES_MAX + 1)
    const body = request.bytes(LIMITS)
    request.respond({ status: 200, headers: {}, body: null })
    await turn()

    endTurn()
    await body
    fake.pass(IDLE_TIMEOUT_MS / 1000 + 2)

    expect(fake.done).toEqual(['closed', 'end'])
  })
})
