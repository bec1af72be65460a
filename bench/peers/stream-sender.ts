import { paces, streamFrames, type Pace } from '../workloads/streams.ts'

type Stream = {
  readonly socket: Bun.Socket<unknown>
  readonly pieces: readonly Buffer[]
  next: number
}

const HEAD = [
  'HTTP/1.1 200 OK',
  'content-type: text/event-stream; charset=utf-8',
  'transfer-encoding: chunked',
  'x-request-id: req_4c1d9e7a52b84f0f9d3c6b1e8a7f2d55',
  'openai-processing-ms: 412',
].join('\r\n')
const END = '0\r\n\r\n'

/** Streams of one pace are spread over this many slots, so that they do not all send at the same time. */
const SLOTS = 5
const FLOOD_BLOCK_FRAMES = 200

/** Sends streams of one pace over raw sockets: one write of a prepared piece for each stream that is due. */
export class StreamSender {
  readonly #slots: readonly Set<Stream>[] = Array.from({ length: SLOTS }, () => new Set<Stream>())
  readonly #pieces: readonly Buffer[]
  #opened = 0
  #slot = 0
  #isTicking = false
  readonly #everyMs: number

  constructor(pace: Exclude<Pace, 'flood'>) {
    const { everyMs, tokens } = paces[pace]
    const [first = '', ...rest] = streamFrames(tokens)
    this.#everyMs = everyMs
    const last = rest.length - 1
    this.#pieces = [
      Buffer.from(`${HEAD}\r\n\r\n${chunk(first)}`),
      ...rest.map((frame, at) => Buffer.from(chunk(frame) + (at === last ? END : ''))),
    ]
  }

  /** Answers a request. The first piece is sent immediately. */
  open(socket: Bun.Socket<unknown>): void {
    const stream = { socket, pieces: this.#pieces, next: 0 }
    this.#opened += 1
    if (!sendNext(stream)) return
    this.#slots[this.#opened % SLOTS]?.add(stream)
    if (this.#isTicking) return
    this.#isTicking = true
    setInterval(() => this.#tick(), this.#everyMs / SLOTS)
  }

  #tick(): void {
    this.#slot = (this.#slot + 1) % SLOTS
    const slot = this.#slots[this.#slot]
    for (const stream of slot ?? []) if (!sendNext(stream)) slot?.delete(stream)
  }
}

/** False if that was the last piece or the client has disconnected. */
function sendNext(stream: Stream): boolean {
  const piece = stream.pieces[stream.next]
  stream.next += 1
  if (piece === undefined || stream.socket.readyState !== 1) return false
  if (stream.socket.write(piece) !== piece.length)
    throw new Error('The mock upstream could not send a piece in one write.')
  return stream.next < stream.pieces.length
}

/** Sends forever, as fast as the socket accepts it. */
export class Flood {
  readonly #block: Buffer
  readonly #rest = new WeakMap<Bun.Socket<unknown>, Buffer>()

  constructor() {
    const [, token = ''] = streamFrames(1)
    this.#block = Buffer.from(chunk(token).repeat(FLOOD_BLOCK_FRAMES))
  }

  open(socket: Bun.Socket<unknown>): void {
    socket.write(`${HEAD}\r\n\r\n`)
    this.#rest.set(socket, this.#block)
    this.drain(socket)
  }

  /** Continues when the socket was full. Does nothing for a socket that is not flooded. */
  drain(socket: Bun.Socket<unknown>): void {
    for (;;) {
      const rest = this.#rest.get(socket)
      if (rest === undefined) return
      const sent = socket.write(rest)
      if (sent < rest.length) {
        this.#rest.set(socket, rest.subarray(Math.max(sent, 0)))
        return
      }
      this.#rest.set(socket, this.#block)
    }
  }
}

function chunk(frame: string): string {
  return `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`
}
