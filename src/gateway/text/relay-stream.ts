import type { TextStream } from '../../protocol/text-dialect.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import type { Clock } from '../ports/clock.ts'
import type { StreamEnd, UpstreamStream } from '../ports/text-provider.ts'
import { StreamSettlement, type StreamRun } from './settle-stream.ts'
import type { SettleTextPorts } from './settle-text.ts'
import type { StreamEnding } from './text-result.ts'
import { SILENCE, type WatchedUpstream } from './watched-upstream.ts'

type Bytes = Uint8Array<ArrayBuffer>

/**
 * How long an upstream may take to end a body whose stream is complete. After that its connection is closed instead of
 * reused.
 */
const CLOSE_WITHIN_MS = 1000
const NOTHING: Bytes = new Uint8Array()

/**
 * Relays an opened stream to its client. It reads one piece of the upstream's body for each piece that the client
 * takes, so a slow client slows the upstream. The last piece is sent when the charge is durable.
 */
export class RelayedStream implements ByteStream {
  readonly #upstream: UpstreamStream
  readonly #watched: WatchedUpstream | undefined
  readonly #stream: TextStream
  readonly #settlement: StreamSettlement
  readonly #clock: Clock
  readonly #onFailed: (error: unknown) => void
  #first: Bytes | undefined
  /** How the upstream's body ended; undefined while it continues. */
  #upstreamEnd: StreamEnd | undefined

  constructor(run: StreamRun, ports: SettleTextPorts) {
    const { upstream, watched, stream, first } = run.opened
    this.#upstream = upstream
    this.#watched = watched
    this.#stream = stream
    this.#settlement = new StreamSettlement(run, ports)
    this.#clock = ports.clock
    this.#onFailed = ports.onSettleFailed
    this.#first = first.length > 0 ? first : undefined
    this.#upstreamEnd = upstream.end
  }

  /** Resolves when the stream has ended and is settled. Never rejects. */
  get ended(): Promise<StreamEnding> {
    return this.#settlement.ended
  }

  async read(): Promise<Bytes | undefined> {
    const first = this.#first
    this.#first = undefined
    if (first !== undefined || this.#settlement.hasBegun) return first
    let dueMs = this.#nextBeatMs()
    while (!this.#stream.isDone && this.#upstreamEnd === undefined) {
      const piece = await (this.#watched === undefined
        ? this.#upstream.read()
        : this.#watched.readUntil(dueMs))
      // The stream was cancelled during the read.
      if (this.#settlement.hasBegun) return undefined
      const out = piece === SILENCE ? this.#beat() : this.#pass(piece)
      if (out.length > 0) return out
      if (piece === SILENCE) dueMs = this.#nextBeatMs()
    }
    if (this.#upstreamEnd === undefined) void this.#readToEnd()
    const last = await this.#settlement.settle(this.#upstreamEnd, { isRead: true })
    return last.length > 0 ? last : undefined
  }

  cancel(): void {
    if (this.#settlement.hasBegun) return
    this.#upstream.cancel()
    this.#upstreamEnd ??= { end: 'aborted' }
    void this.#settlement.settle(this.#upstreamEnd, { isRead: false })
  }

  /** The monotonic instant of the next heartbeat if nothing is sent until then. */
  #nextBeatMs(): number {
    const { heartbeat } = this.#stream
    return heartbeat === undefined ? Infinity : this.#clock.monotonicMs() + heartbeat.afterMs
  }

  #beat(): Bytes {
    return this.#stream.heartbeat?.bytes() ?? NOTHING
  }

  /** The part of a piece that can go to the client now. */
  #pass(piece: Bytes | undefined): Bytes {
    try {
      if (piece !== undefined) return this.#stream.feed(piece)
      this.#upstreamEnd = this.#upstream.end ?? { end: 'ended' }
      return this.#stream.end()
    } catch (error) {
      // A frame that cannot be read ends the stream like a broken connection, so that its hold is freed.
      this.#onFailed(error)
      this.#upstream.cancel()
      this.#upstreamEnd = { end: 'broken', reason: 'a frame could not be read' }
      return NOTHING
    }
  }

  /** Reads the rest of the upstream's body in the background, so that its connection can be reused. */
  async #readToEnd(): Promise<void> {
    const stopWaiting = this.#clock.after(CLOSE_WITHIN_MS, () => this.#upstream.cancel())
    while ((await this.#upstream.read()) !== undefined);
    stopWaiting()
  }
}
