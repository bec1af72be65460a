import { DEFAULT_TIMEOUTS, type ConnectionTimeouts } from '../server/limits.ts'
import { ReadTurns } from '../server/read-turns.ts'
import { ServerConnection, type ConnectionServer, type ServerSocket } from '../server/server-connection.ts'
import type { ServerRequest } from '../server/server-request.ts'

/** A connection of the server over a fake socket. */
export type FakeConnection = {
  readonly connection: ServerConnection
  /** The requests that were read, and the errors of the refused ones. */
  readonly requests: readonly { readonly request: ServerRequest; readonly refusal: Error | undefined }[]
  /** Delivers bytes from the client. */
  send(bytes: string | Uint8Array): void
  /** Everything that the kernel has taken. */
  readonly sent: string
  /** The calls of the socket, apart from writes. */
  readonly done: readonly string[]
  /** How many more bytes the kernel takes; at first without limit. */
  room: number
  /** Lets the kernel take this many more bytes. */
  drain(bytes: number): void
  /** Advances the time. */
  pass(seconds: number): void
  isStopping: boolean
}

/** Opens a connection over a fake socket. Calls `serve` with each request as soon as it is read. */
export function fakeConnection(
  serve: (request: ServerRequest, refusal: Error | undefined) => void = () => undefined,
  timeouts: Partial<ConnectionTimeouts> = {},
  readTurns = new ReadTurns(),
): FakeConnection {
  const requests: { request: ServerRequest; refusal: Error | undefined }[] = []
  const pieces: Buffer[] = []
  const done: string[] = []
  const answer = (request: ServerRequest, refusal?: Error) => {
    requests.push({ request, refusal })
    serve(request, refusal)
  }
  const server = {
    tick: 0,
    date: 'Thu, 01 Jan 1970 00:00:00 GMT',
    isStopping: false as boolean,
    timeouts: { ...DEFAULT_TIMEOUTS, ...timeouts },
    readTurns,
    onRequest: answer,
    onRefused: answer,
    onFailure: (_, error) => void done.push(error.message),
    onClosed: () => void done.push('closed'),
  } satisfies ConnectionServer
  const socket = {
    write(bytes: Uint8Array, from = 0, length = bytes.length) {
      const taken = Math.min(length, fake.room)
      fake.room -= taken
      pieces.push(Buffer.from(bytes.subarray(from, from + taken)))
      return taken
    },
    end: () => void done.push('end'),
    shutdown: () => void done.push('shutdown'),
    terminate: () => void done.push('terminate'),
    pause: () => void done.push('pause'),
    resume: () => void done.push('resume'),
  }
  const connection = new ServerConnection(socket as unknown as ServerSocket, server)
  const fake = {
    connection,
    requests,
    done,
    room: Infinity,
    send: (bytes: string | Uint8Array) => connection.onData(Buffer.from(bytes as string, 'latin1')),
    get sent() {
      return Buffer.concat(pieces).toString('latin1')
    },
    drain(bytes: number) {
      fake.room = bytes
      connection.onDrain()
    },
    pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        server.tick += 1
        if (connection.deadlineTick <= server.tick) connection.onDeadline()
      }
    },
    get isStopping() {
      return server.isStopping
    },
    set isStopping(isStopping: boolean) {
      server.isStopping = isStopping
    },
  }
  return fake
}
