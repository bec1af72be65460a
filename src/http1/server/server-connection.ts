import type { RequestHead } from '../wire/request-head.ts'
import { hasNoBody } from '../wire/response-start.ts'
import { HttpError } from './http-error.ts'
import {
  DISCARDED_BYTES_MAX,
  LINGER_BYTES_MAX,
  LINGER_TIMEOUT_MS,
  NEVER,
  ticks,
  type ConnectionTimeouts,
} from './limits.ts'
import type { BodyConnection } from './request-body.ts'
import type { ReadTurns } from './read-turns.ts'
import { RequestReader } from './request-reader.ts'
import { ServerRequest, unreadRequest, type Responder } from './server-request.ts'
import {
  bodyLength,
  isStream,
  responseHead,
  ResponseWriter,
  type BodyLength,
  type ServerResponse,
} from './response-writer.ts'

/** The part of a server that a connection uses. */
export type ConnectionServer = {
  readonly tick: number
  /** The value of `date` headers. */
  readonly date: string
  readonly timeouts: ConnectionTimeouts
  readonly readTurns: ReadTurns
  /** Whether connections take no further request. */
  readonly isStopping: boolean
  /** Passes a request to the handler. */
  onRequest(request: ServerRequest): void
  /** Passes a connection whose request cannot be read to the handler. */
  onRefused(request: ServerRequest, error: HttpError): void
  /** A response could not be sent to its end. */
  onFailure(connection: ServerConnection, error: Error): void
  onClosed(connection: ServerConnection): void
}

export type ServerSocket = Pick<
  Bun.Socket<ServerConnection>,
  'write' | 'end' | 'shutdown' | 'terminate' | 'pause' | 'resume' | 'remoteAddress'
>

/**
 * The connection of one client. Reads its requests one after the other and answers them in that order. Holds at most
 * one head or the bytes read ahead, the body that a handler asked for, and one piece of a response.
 */
export class ServerConnection implements Responder, BodyConnection {
  /** The server calls `onDeadline` at this tick. */
  deadlineTick = NEVER
  readonly #socket: ServerSocket
  readonly #server: ConnectionServer
  readonly #reader: RequestReader
  readonly #writer: ResponseWriter
  /**
   * `idle` until a request arrives; `running` until its response begins; `responding`; `discarding` the rest of its
   * body; `lingering` after the last response, until the client has closed the connection too.
   */
  #state: 'idle' | 'running' | 'responding' | 'discarding' | 'lingering' | 'closed' = 'idle'
  #isReadingHead = false
  /** The request that is running or being responded to. */
  #request: ServerRequest | undefined
  /** Whether the client waits for `100 Continue`. */
  #awaitsContinue = false
  /** Whether the connection ends with the current response. */
  #isLast = false
  #lingeredBytes = 0
  #remoteAddress = ''

  constructor(socket: ServerSocket, server: ConnectionServer) {
    this.#socket = socket
    this.#server = server
    this.#reader = new RequestReader(socket, this)
    this.#writer = new ResponseWriter(socket, () => this.#setDeadline(server.timeouts.writeMs))
    this.#setDeadline(server.timeouts.idleMs)
  }

  /** Whether a request is being answered. */
  get isBusy(): boolean {
    return this.#state === 'running' || this.#state === 'responding'
  }

  get remoteAddress(): string {
    return this.#remoteAddress
  }

  get tick(): number {
    return this.#server.tick
  }

  get readTurns(): ReadTurns {
    return this.#server.readTurns
  }

  onData(bytes: Buffer): void {
    switch (this.#state) {
      case 'idle':
        this.#reader.receive(bytes)
        return this.#readRequest()
      case 'running':
        this.#awaitsContinue = false
        this.#reader.receive(bytes)
        this.#reader.pauseWhenAhead()
        return this.#setBodyDeadline()
      case 'responding':
        this.#reader.receive(bytes)
        return this.#reader.pauseWhenAhead()
      case 'discarding':
        return this.#discard(bytes)
      case 'lingering':
        this.#lingeredBytes += bytes.length
        if (this.#lingeredBytes > LINGER_BYTES_MAX) this.cut()
        return
      case 'closed':
    }
  }

  onFault(error: unknown): void {
    this.#server.onFailure(this, error instanceof Error ? error : new Error(String(error)))
  }

  onDrain(): void {
    this.#writer.onDrain()
    if (this.#writer.isDrained && this.isBusy) this.#setBodyDeadline()
  }

  /** The client has closed the connection, or it broke. */
  onClose(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.deadlineTick = NEVER
    this.#request?.onDisconnect()
    this.#request = undefined
    this.#reader.body?.fail(
      new HttpError('client_disconnected', 'The client disconnected before its request body was complete.'),
    )
    this.#reader.clear()
    this.#writer.onClose()
    this.#server.onClosed(this)
  }

  onDeadline(): void {
    this.deadlineTick = NEVER
    if (this.#state === 'idle' && this.#reader.isEmpty) this.close()
    else if (this.#state === 'idle')
      this.refuse(new HttpError('headers_timeout', 'The request headers did not arrive in time.'))
    else if (this.#state === 'running')
      this.#reader.body?.fail(new HttpError('body_timeout', 'The request body did not arrive in time.'))
    else this.cut()
  }

  /** Breaks the connection. */
  cut(): void {
    this.onClose()
    this.#socket.terminate()
  }

  /** Closes the connection after what was sent has been delivered. */
  close(): void {
    this.onClose()
    this.#socket.end()
  }

  /** Answers bytes that are not a request, or a connection that is not wanted, and then closes the connection. */
  refuse(error: HttpError): void {
    const request = unreadRequest(this)
    this.#begin(request)
    this.#server.onRefused(request, error)
  }

  onBodyRead(): void {
    // A complete body may be read after its response, when the connection has other time limits.
    if (this.#state !== 'running') return
    if (this.#awaitsContinue) {
      this.#awaitsContinue = false
      this.#writer.sendContinue()
    }
    this.#setBodyDeadline()
    this.#reader.resume()
  }

  respond(request: ServerRequest, response: ServerResponse): void {
    const { body } = response
    if (this.#state !== 'running' || this.#request !== request) {
      if (isStream(body)) body.cancel()
      return
    }
    const { head } = request
    const { date, isStopping } = this.#server
    const length = bodyLength(response)
    const isLast = isStopping || !head.isKeepAlive || this.#mustEndAfter(response, length, head)
    const text = responseHead(response, head, { date, isLast, length })
    this.#state = 'responding'
    this.#isLast = isLast
    this.deadlineTick = NEVER
    this.#reader.body?.fail(
      new HttpError('body_discarded', 'The response was sent before the request body was read.'),
    )
    const hasBody = head.method !== 'HEAD' && !hasNoBody(response.status)
    this.#send(text, hasBody ? body : null, length, head).then(this.#onResponded, this.#onResponseFailed)
    if (!hasBody && isStream(body)) body.cancel()
  }

  readonly #onResponseFailed = (error: Error): void => {
    if (this.#state !== 'closed') this.#server.onFailure(this, error)
  }

  #send(
    text: string,
    body: ServerResponse['body'],
    length: BodyLength,
    { isHttp10 }: RequestHead,
  ): Promise<void> {
    if (body === null) return this.#writer.send(text)
    if (!isStream(body)) return this.#writer.send(text, body, length)
    return this.#writer.sendStream(text, body, { isChunked: !isHttp10 && length === undefined, length })
  }

  /** Whether the connection cannot be used after this response, even if client and server would keep it. */
  #mustEndAfter(
    { headers }: ServerResponse,
    length: BodyLength,
    { isHttp10, expectsContinue }: RequestHead,
  ): boolean {
    if (headers['connection'] === 'close') return true
    if (isHttp10 && length === undefined) return true
    const rest = this.#reader.body
    if (rest === undefined) return false
    // The rest of the body may be too large to discard, or the client may never send it.
    return rest.isMalformed || rest.missingBytes > DISCARDED_BYTES_MAX || expectsContinue
  }

  /** The kernel has taken the whole response. */
  readonly #onResponded = (): void => {
    if (this.#state === 'closed') return
    this.#request = undefined
    if (this.#isLast || this.#server.isStopping) this.#finish()
    else if (this.#reader.body === undefined) this.#awaitRequest()
    else {
      this.#state = 'discarding'
      this.#setDeadline(LINGER_TIMEOUT_MS)
      this.#reader.resume()
    }
  }

  /** Ends the connection after its last response. */
  #finish(): void {
    if (this.#reader.isEmpty || this.#server.isStopping) return this.close()
    this.#state = 'lingering'
    this.#reader.clear()
    this.#setDeadline(LINGER_TIMEOUT_MS)
    this.#reader.resume()
    this.#socket.shutdown()
  }

  #awaitRequest(): void {
    this.#state = 'idle'
    this.#setDeadline(this.#server.timeouts.idleMs)
    this.#reader.resume()
    this.#readRequest()
  }

  /** Starts the next request if its head has arrived. */
  #readRequest(): void {
    if (this.#reader.isEmpty) return
    const head = this.#reader.readHead()
    if (head === undefined) {
      if (!this.#isReadingHead) this.#setDeadline(this.#server.timeouts.headMs)
      this.#isReadingHead = true
    } else if (head instanceof HttpError) this.refuse(head)
    else {
      const request = new ServerRequest(head, this.#reader.readBody(head.framing), this)
      this.#awaitsContinue = head.expectsContinue && this.#reader.body !== undefined
      this.#begin(request)
      this.#server.onRequest(request)
    }
  }

  #begin(request: ServerRequest): void {
    this.#state = 'running'
    this.#isReadingHead = false
    this.#request = request
    // A closed socket does not know it any more.
    if (this.#remoteAddress === '') this.#remoteAddress = this.#socket.remoteAddress
    this.deadlineTick = NEVER
  }

  #discard(bytes: Buffer): void {
    this.#reader.receive(bytes)
    if (this.#reader.body === undefined) this.#awaitRequest()
    else if (this.#reader.body.isMalformed) this.cut()
  }

  /** While a request runs, the only deadline is that of a pending read of its body. */
  #setBodyDeadline(): void {
    this.deadlineTick = this.#reader.body?.deadlineTick ?? NEVER
  }

  #setDeadline(ms: number): void {
    this.deadlineTick = this.#server.tick + ticks(ms)
  }
}
