import { Connection, type Host, type ServerSocket } from '../../src/http1/server/connection.ts'
import type { ServerRequest } from '../../src/http1/server/server-request.ts'

/** A connection of the server over a socket that a test plays. */
export type PlayedConnection = {
  readonly connection: Connection
  /** The requests that were taken, and what each was refused with. */
  readonly requests: readonly { readonly request: ServerRequest; readonly refusal: Error | undefined }[]
  /** What the client sends. */
  send(bytes: string | Uint8Array): void
  /** All that the kernel has taken so far. */
  readonly sent: string
  /** What was done to the socket besides writing. */
  readonly done: readonly string[]
  /** How many more bytes the kernel takes; endless at first. */
  room: number
  /** Lets the kernel take so many more. */
  drain(bytes: number): void
  /** Lets the seconds go by. */
  pass(seconds: number): void
  isStopping: boolean
}

/** Opens a connection over a fake socket. Calls `serve` with each request as soon as it is read. */
export function playedConnection(
  serve: (request: ServerRequest, refusal: Error | undefined) => void = () => undefined,
): PlayedConnection {
  const requests: { request: ServerRequest; refusal: Error | undefined }[] = []
  const pieces: Buffer[] = []
  const done: string[] = []
  const host = {
    tick: 0,
    date: 'Thu, 01 Jan 1970 00:00:00 GMT',
    isStopping: false as boolean,
    serve(request: ServerRequest, refusal?: Error) {
      requests.push({ request, refusal })
      serve(request, refusal)
    },
    onClosed: () => void done.push('closed'),
  } satisfies Host
  const socket = {
    write(bytes: Uint8Array, from = 0, length = bytes.length) {
      const taken = Math.min(length, play.room)
      play.room -= taken
      pieces.push(Buffer.from(bytes.subarray(from, from + taken)))
      return taken
    },
    end: () => void done.push('end'),
    shutdown: () => void done.push('shutdown'),
    terminate: () => void done.push('terminate'),
    pause: () => void done.push('pause'),
    resume: () => void done.push('resume'),
  }
  const connection = new Connection(socket as unknown as ServerSocket, host)
  const play = {
    connection,
    requests,
    done,
    room: Infinity,
    send: (bytes: string | Uint8Array) => connection.onData(Buffer.from(bytes as string, 'latin1')),
    get sent() {
      return Buffer.concat(pieces).toString('latin1')
    },
    drain(bytes: number) {
      play.room = bytes
      connection.onDrain()
    },
    pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        host.tick += 1
        if (connection.deadlineTick <= host.tick) connection.onDeadline()
      }
    },
    get isStopping() {
      return host.isStopping
    },
    set isStopping(isStopping: boolean) {
      host.isStopping = isStopping
    },
  }
  return play
}
