import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { CacheServer } from '../../gateway/ports/requests/shared-cache.ts'
import { encodeCommands, RefusedCommand, ReplyReader, type Command, type Reply } from './resp.ts'

/** The time for a connection with TLS and login. No request waits for it. */
const CONNECT_WITHIN_MS = 2000
/** The time for an answer. */
const ANSWER_WITHIN_MS = 90
/**
 * An answer that came while this process was busy is still unread when the time is over. This is the time to read it.
 */
const LAST_LOOK_MS = 10
const KEEP_ALIVE_AFTER_MS = 30_000
/** The bytes of commands without an answer. More than a frozen server should get within its time. */
const UNANSWERED_BYTES_MAX = 16 * 1024 * 1024

/** A call that was not sent, because too many bytes wait. */
export class TooManyCallsError extends Error {
  override readonly name = 'TooManyCallsError'
}

/** Gets the reason, and whether calls failed because of it. */
type OnLost = (lost: { readonly error: Error; readonly isBusy: boolean }) => void

type Waiting = {
  readonly replies: Reply[]
  readonly count: number
  readonly bytes: number
  readonly sentAtMs: number
  readonly resolve: (replies: readonly Reply[]) => void
  readonly reject: (error: Error) => void
}

/**
 * One connection to a server. Calls of one turn are sent together, and are answered in their order. The first call
 * without an answer in time, and any other failure, closes it: a later answer could be taken for that of another call.
 */
export class Connection {
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #reader: ReplyReader
  readonly #onLost: OnLost
  readonly #waiting: Waiting[] = []
  #unsent: Buffer[] = []
  #unansweredBytes = 0
  #stopTimer: (() => void) | undefined
  #lost: Error | undefined

  /** `onLost` is called once, when it was closed by anything but `close`. */
  private constructor(
    socket: Socket,
    {
      clock,
      valueBytesMax,
      onLost,
    }: { readonly clock: Clock; readonly valueBytesMax: number; readonly onLost: OnLost },
  ) {
    this.#socket = socket
    this.#clock = clock
    this.#reader = new ReplyReader({ valueBytesMax })
    this.#onLost = onLost
    socket.setNoDelay(true)
    // A connection that a firewall forgot is found while it is idle, and not by a call.
    socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS)
    socket.on('data', (piece: Buffer) => this.#read(piece))
    socket.on('error', error => this.#lose(error))
    socket.on('close', () => this.#lose(new Error('The server closed the connection.')))
  }

  /** Connects, logs in and chooses the database. Rejects with an Error whose message has no password. */
  static async open(
    server: CacheServer,
    ports: { readonly clock: Clock; readonly valueBytesMax: number; readonly onLost: OnLost },
  ): Promise<Connection> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const socket = socketTo(server)
    const stop = ports.clock.after(CONNECT_WITHIN_MS, () => {
      reject(new Error(`The server did not accept a connection within ${CONNECT_WITHIN_MS / 1000} seconds.`))
    })
    try {
      await Promise.race([connected(socket, server), late])
      const connection = new Connection(socket, ports)
      await Promise.race([connection.#logIn(server), late])
      return connection
    } catch (error) {
      socket.on('error', () => undefined)
      socket.destroy()
      throw error
    } finally {
      stop()
    }
  }

  /** Sends commands together. Resolves with their replies; rejects if the connection is lost before the last one. */
  call(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    const bytes = encodeCommands(commands)
    if (this.#unansweredBytes + bytes.length > UNANSWERED_BYTES_MAX)
      return Promise.reject(new TooManyCallsError('Too many calls wait for the server.'))
    const { promise, resolve, reject } = Promise.withResolvers<readonly Reply[]>()
    this.#waiting.push({
      replies: [],
      count: commands.length,
      bytes: bytes.length,
      sentAtMs: this.#clock.monotonicMs(),
      resolve,
      reject,
    })
    this.#unansweredBytes += bytes.length
    if (this.#unsent.length === 0) queueMicrotask(() => this.#send())
    this.#unsent.push(bytes)
    this.#stopTimer ??= this.#clock.after(ANSWER_WITHIN_MS, () => this.#look())
    return promise
  }

  close(): void {
    this.#end(new Error('The connection was closed.'))
  }

  async #logIn({ user, password, database }: CacheServer): Promise<void> {
    const commands: Command[] = []
    if (password !== undefined)
      commands.push(user === undefined ? ['AUTH', password] : ['AUTH', user, password])
    if (database !== 0) commands.push(['SELECT', String(database)])
    // A server that wants a login refuses this.
    commands.push(['PING'])
    const refused = (await this.call(commands)).find(reply => reply instanceof RefusedCommand)
    if (refused !== undefined) throw refused
  }

  #send(): void {
    const unsent = this.#unsent
    this.#unsent = []
    if (this.#lost === undefined) this.#socket.write(Buffer.concat(unsent))
  }

  #read(piece: Buffer): void {
    try {
      for (const reply of this.#reader.read(piece)) this.#answer(reply)
    } catch (error) {
      this.#lose(error as Error)
    }
  }

  #answer(reply: Reply): void {
    const [first] = this.#waiting
    if (first === undefined) throw new Error('The server answered without a call.')
    first.replies.push(reply)
    if (first.replies.length < first.count) return
    this.#waiting.shift()
    this.#unansweredBytes -= first.bytes
    if (this.#waiting.length === 0) {
      this.#stopTimer?.()
      this.#stopTimer = undefined
    }
    first.resolve(first.replies)
  }

  /** One timer for all calls: it looks at the oldest one, and again when that one's time is over. */
  #look(): void {
    const [oldest] = this.#waiting
    if (oldest === undefined) return
    const leftMs = oldest.sentAtMs + ANSWER_WITHIN_MS - this.#clock.monotonicMs()
    this.#stopTimer =
      leftMs > 0
        ? this.#clock.after(leftMs, () => this.#look())
        : this.#clock.after(LAST_LOOK_MS, () => this.#lastLook(oldest))
  }

  #lastLook(oldest: Waiting): void {
    if (this.#waiting[0] === oldest)
      this.#lose(new Error(`The server did not answer within ${ANSWER_WITHIN_MS + LAST_LOOK_MS} ms.`))
    else this.#look()
  }

  #lose(error: Error): void {
    if (this.#lost !== undefined) return
    const isBusy = this.#waiting.length > 0
    this.#end(error)
    this.#onLost({ error, isBusy })
  }

  #end(error: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#socket.destroy()
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}

function socketTo({ host, port, isTls }: CacheServer): Socket {
  if (!isTls) return connect({ host, port })
  // The name of a certificate is never an address.
  return connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) })
}

function connected(socket: Socket, { isTls }: CacheServer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once(isTls ? 'secureConnect' : 'connect', () => resolve())
  socket.once('error', reject)
  socket.once('close', () => reject(new Error('The server closed the connection.')))
  return promise
}
