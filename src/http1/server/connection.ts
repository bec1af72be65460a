import { GatewayError } from '../../domain/errors.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { hasNoBody } from '../wire/response-start.ts'
import type { BodyLimits } from '../../http/incoming-request.ts'
import { isStream, type Reply } from '../../http/request-context.ts'
import { Outgoing } from './outgoing.ts'
import { OutgoingStream, type StreamedBody } from './outgoing-stream.ts'
import { Received } from './received.ts'
import { replyHead } from './reply-head.ts'
import { RequestBody } from './request-body.ts'
import { ServerRequest, unreadRequest, type Line } from './server-request.ts'
import type { WholeBody } from './whole-body.ts'

/** From a head's first byte to its last. */
const HEAD_MS = 10_000
/** How long a connection may wait for its next request: longer than the pools of usual clients and balancers keep one. */
const IDLE_MS = 620_000
/** How long a client may take nothing of what is sent to it. */
const STALL_MS = 600_000
/** How much is read of what nobody has asked for: a body, and what comes behind a request that still runs. */
const READ_AHEAD_BYTES = 64 * 1024
/** What is left of a body that nobody reads is dropped up to here, so that the connection can serve again. */
const DROPPED_BYTES_MAX = 4 * 1024 * 1024
/** A client that still sends after its last reply is listened to for so much and so long: it may read only then. */
const LINGER_BYTES_MAX = 64 * 1024 * 1024
const LINGER_MS = 30_000

const NEVER = Infinity
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** What a connection needs of its server. */
export type Host = {
  /** Seconds, as its sweep counts them. */
  readonly tick: number
  /** The value of `date` headers. */
  readonly date: string
  /** Whether no further request is to be taken. */
  readonly isStopping: boolean
  /** Has a request replied to; with a `refusal`, by that. */
  serve(request: ServerRequest, refusal?: Error): void
  onClosed(connection: Connection): void
}

export type ServerSocket = Pick<
  Bun.Socket<Connection>,
  'write' | 'end' | 'shutdown' | 'terminate' | 'pause' | 'resume'
>

/**
 * One client's connection: reads its requests one after the other, and sends their replies in that order. Holds no more than one
 * head or what is read ahead, the body that a handler asked for, and one piece of a reply.
 */
export class Connection implements Line {
  /** The sweep calls `onDeadline` when its ticks have come to this. */
  deadlineTick = NEVER
  readonly #socket: ServerSocket
  readonly #host: Host
  readonly #out: Outgoing
  readonly #received = new Received()
  /**
   * `waiting` for a head; `running` a request; `dropping` the body of one that was replied to; `lingering` after the last
   * reply, until the client has closed too.
   */
  #state: 'waiting' | 'running' | 'dropping' | 'lingering' | 'closed' = 'waiting'
  #isTakingHeads = false
  #hasHeadBegun = false
  #isPaused = false
  /** While it runs. */
  #request: ServerRequest | undefined
  /** Of the request, until it has come whole. */
  #body: RequestBody | undefined
  /** While somebody waits for the body: how long it may pause, and when its time is over. */
  #bodyTimes: { readonly idleTicks: number; readonly endTick: number } | undefined
  /** While it is sent. */
  #stream: OutgoingStream | undefined
  /** Whether the connection ends with this reply. */
  #isLast = false
  #lingered = 0

  constructor(socket: ServerSocket, host: Host) {
    this.#socket = socket
    this.#host = host
    this.#out = new Outgoing(socket, () => this.#within(STALL_MS))
    this.#within(IDLE_MS)
  }

  /** Whether a request is being answered. */
  get isBusy(): boolean {
    return this.#state === 'running'
  }

  onData(bytes: Buffer): void {
    if (this.#state === 'waiting') {
      this.#received.push(bytes)
      this.#takeHeads()
    } else if (this.#state === 'lingering') {
      this.#lingered += bytes.length
      if (this.#lingered > LINGER_BYTES_MAX) this.cut()
    } else if (this.#state !== 'closed') this.#takeMore(bytes)
  }

  onDrain(): void {
    this.#out.onDrain()
    if (this.#out.isSent) this.#bodyMoves()
  }

  /** The client has closed, or the connection broke. */
  onClose(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.deadlineTick = NEVER
    this.#received.clear()
    const request = this.#request
    this.#request = undefined
    request?.leave()
    this.#body?.fail(new Error('The client left before its body was whole.'))
    this.#stream?.cancel()
    this.#out.onClose()
    this.#host.onClosed(this)
  }

  onDeadline(): void {
    this.deadlineTick = NEVER
    if (this.#state === 'waiting' && this.#received.length === 0) this.close()
    else if (this.#state === 'waiting')
      this.refuse(new GatewayError('headers_timeout', 'The head of the request did not arrive in time.'))
    else if (this.#bodyTimes !== undefined)
      this.#body?.fail(new GatewayError('body_timeout', 'The request body did not arrive in time.'))
    else this.cut()
  }

  /** Breaks it. */
  cut(): void {
    this.onClose()
    this.#socket.terminate()
  }

  /** Closes it; what was sent is delivered. */
  close(): void {
    this.onClose()
    this.#socket.end()
  }

  /** Replies to what is no request, or must not be one, as the last thing on this connection. */
  refuse(refusal: Error): void {
    this.#run(unreadRequest(this), refusal)
  }

  readBody(body: RequestBody, { bytesMax, idleMs, totalMs }: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = body.read(bytesMax)
    if (this.#body === body && body.isComing) {
      if (this.#request?.head.expectsContinue === true) this.#out.send(CONTINUE)
      this.#bodyTimes = { idleTicks: ticks(idleMs), endTick: this.#host.tick + ticks(totalMs) }
      this.#bodyMoves()
      this.#resume()
    }
    return bytes
  }

  reply(request: ServerRequest, reply: Reply, lines: string): void {
    const { body } = reply
    if (this.#request !== request) {
      if (isStream(body)) body.cancel()
      return
    }
    const { head } = request
    const { date, isStopping } = this.#host
    const isLast = isStopping || !head.isKept || this.#endsWith(reply, request)
    const length = isStream(body) ? undefined : lengthOf(body)
    const text = replyHead(head, reply, { date, isLast, length, lines })
    this.#isLast = isLast
    this.#bodyTimes = undefined
    this.deadlineTick = NEVER
    const isHeadAlone = head.method === 'HEAD' || hasNoBody(reply.status)
    if (isStream(body) && !isHeadAlone) this.#sendStream(text, body, { isChunked: !head.isOld })
    else {
      if (isStream(body)) body.cancel()
      const content = isHeadAlone || isStream(body) ? '' : (body ?? '')
      this.#out.send(text, content, content === '' ? 0 : (length ?? 0))
      if (this.#out.isSent) this.#onReplied()
      else void this.#out.sent().then(() => this.#onReplied())
    }
  }

  #sendStream(head: string, source: StreamedBody, { isChunked }: { readonly isChunked: boolean }): void {
    const onSent = () => {
      this.#stream = undefined
      this.#onReplied()
    }
    this.#stream = new OutgoingStream(source, this.#out, { head, isChunked, onSent })
    void this.#stream.start()
  }

  /** Whether nothing can follow a reply, other than for what client and server want. */
  #endsWith({ headers, body }: Reply, { head }: ServerRequest): boolean {
    if (headers['connection'] === 'close' || (head.isOld && isStream(body))) return true
    const rest = this.#body
    if (rest === undefined) return false
    // What is left of its body may be too much to drop, or may never come.
    return rest.isBroken || rest.missing > DROPPED_BYTES_MAX || head.expectsContinue
  }

  /** The reply is with the kernel. */
  #onReplied(): void {
    if (this.#state === 'closed') return
    this.#request = undefined
    if (this.#isLast || this.#host.isStopping) this.#finish()
    else if (this.#body !== undefined) {
      this.#state = 'dropping'
      this.#body.fail(new Error('The request was replied to without its body.'))
      this.#within(LINGER_MS)
      this.#resume()
    } else {
      this.#state = 'waiting'
      this.#within(IDLE_MS)
      this.#resume()
      this.#takeHeads()
    }
  }

  /** After the last reply. A client that still sends would lose it if the connection were closed before it has read it. */
  #finish(): void {
    const isRead = this.#body === undefined && this.#received.length === 0
    if (isRead || this.#host.isStopping) return this.close()
    this.#state = 'lingering'
    this.#body = undefined
    this.#received.clear()
    this.#within(LINGER_MS)
    this.#resume()
    this.#socket.shutdown()
  }

  /** Takes every head that is there, as long as its requests are replied to at once. */
  #takeHeads(): void {
    // A reply within this loop comes back here.
    if (this.#isTakingHeads) return
    this.#isTakingHeads = true
    while (this.#state === 'waiting' && this.#received.length > 0 && this.#takeHead());
    this.#isTakingHeads = false
  }

  /** False where it has not come whole. */
  #takeHead(): boolean {
    const head = this.#received.takeHead()
    if (head === undefined) {
      if (!this.#hasHeadBegun) this.#within(HEAD_MS)
      this.#hasHeadBegun = true
      return false
    }
    if (typeof head === 'string') this.refuse(head === 'malformed' ? malformed() : headTooLarge())
    else this.#run(new ServerRequest(head, this.#contentOf(head), this))
    return true
  }

  /** Whole where it has come whole; else what follows on the connection is fed to it. */
  #contentOf({ framing }: RequestHead): WholeBody | RequestBody {
    this.#body = undefined
    const whole = framing === 'chunked' ? undefined : this.#received.takeBody(framing)
    if (whole !== undefined) return whole
    const body = new RequestBody(framing)
    this.#received.feed(body)
    if (body.isComing || body.isBroken) this.#body = body
    return body
  }

  #run(request: ServerRequest, refusal?: Error): void {
    this.#state = 'running'
    this.#hasHeadBegun = false
    this.#request = request
    this.deadlineTick = NEVER
    this.#host.serve(request, refusal)
  }

  /** Takes what comes while a request runs, or its body is dropped: that body, and then what waits for its turn. */
  #takeMore(bytes: Buffer): void {
    const body = this.#body
    if (body === undefined) this.#received.push(bytes)
    else if (body.isComing) this.#feed(body, bytes)
    if (this.#state !== 'dropping') {
      const unasked = this.#received.length + (this.#body?.unasked ?? 0)
      if (unasked > READ_AHEAD_BYTES) this.#pause()
    } else if (this.#body === undefined) this.#onReplied()
    else if (!this.#body.isComing) this.cut()
  }

  #feed(body: RequestBody, bytes: Buffer): void {
    const end = body.feed(bytes, 0)
    if (body.isComing) return this.#bodyMoves()
    this.#bodyTimes = undefined
    this.#bodyMoves()
    // After what is no chunk, nothing can be told apart any more.
    if (body.isBroken) return
    this.#body = undefined
    if (end < bytes.length) this.#received.push(bytes.subarray(end))
  }

  #bodyMoves(): void {
    const times = this.#bodyTimes
    if (times !== undefined) this.deadlineTick = Math.min(this.#host.tick + times.idleTicks, times.endTick)
    // What was sent and not taken keeps its deadline, whatever else the client sends.
    else if (this.#state === 'running' && this.#out.isSent) this.deadlineTick = NEVER
  }

  #within(ms: number): void {
    this.deadlineTick = this.#host.tick + ticks(ms)
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#socket.pause()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }
}

/** One more than its seconds, since the present one has begun. */
function ticks(ms: number): number {
  return Math.ceil(ms / 1000) + 1
}

function lengthOf(body: string | Uint8Array | null): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}

function malformed(): GatewayError {
  return new GatewayError('malformed_request', 'This is no HTTP request that can be read in one way only.')
}

function headTooLarge(): GatewayError {
  return new GatewayError('headers_too_large', 'The head of the request is too large.')
}
