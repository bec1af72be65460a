import type { TextStream } from '../../../protocol/text-dialect.ts'
import type { ByteStream } from '../../ports/byte-stream.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StreamEnd, UpstreamStream } from '../../ports/providers/text-provider.ts'
import { FINISH_BYTES_MAX, type FinishingStreams } from './finishing-streams.ts'
import { isOwed, StreamSettlement, type StreamRun } from './settle-stream.ts'
import type { SettleTextPorts } from '../settle-text.ts'
import type { StreamEnding } from '../text-result.ts'
import { SILENCE, type WatchedUpstream } from './watched-upstream.ts'
import type { Bytes } from '../../../domain/bytes.ts'

/**
 * How long an upstream may take to end a body whose stream is complete. After that its connection is closed instead of
 * reused.
 */
const CLOSE_WITHIN_MS = 1000
const NOTHING: Bytes = new Uint8Array()

export type RelayPorts = SettleTextPorts & { readonly finishingStreams: FinishingStreams }

/**
 * Relays an opened stream to its client. It reads one piece of the upstream's body for each piece that the client
 * takes, so a slow client slows the upstream. The last piece is sent when the charge is durable.
 *
 * If the client disconnects, the upstream's call ends, or the stream is read to its end without the client if its
 * provider has `finish_aborted`.
 */
export class RelayedStream implements ByteStream {
  readonly #upstream: UpstreamStream
  readonly #watched: WatchedUpstream | undefined
  readonly #stream: TextStream
  readonly #settlement: StreamSettlement
  readonly #run: StreamRun
  readonly #finishing: FinishingStreams
  readonly #clock: Clock
  readonly #onFailed: (error: unknown) => void
  #first: Bytes | undefined
  /** How the upstream's body ended; undefined while it continues. */
  #upstreamEnd: StreamEnd | undefined
  /** True while a read for the client waits for the upstream. */
  #isReading = false
  /** Called at the end of a stream that is read on without its client. */
  #onFinished: (() => void) | undefined

  constructor(run: StreamRun, ports: RelayPorts) {
    const { upstream, watched, stream, first } = run.opened
    this.#upstream = upstream
    this.#watched = watched
    this.#stream = stream
    this.#settlement = new StreamSettlement(run, ports)
    this.#run = run
    this.#finishing = ports.finishingStreams
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
    if (first !== undefined || this.#settlement.hasBegun || this.#onFinished !== undefined) return first
    let dueMs = this.#nextBeatMs()
    while (!this.#stream.isDone && this.#upstreamEnd === undefined) {
      this.#isReading = true
      const piece = await (this.#watched === undefined
        ? this.#upstream.read()
        : this.#watched.readUntil(dueMs))
      this.#isReading = false
      // The stream was cancelled during the read.
      if (this.#settlement.hasBegun) return undefined
      if (this.#onFinished !== undefined) {
        void this.#finish(piece)
        return undefined
      }
      const out = piece === SILENCE ? this.#beat() : this.#pass(piece)
      if (out.length > 0) return out
      if (piece === SILENCE) dueMs = this.#nextBeatMs()
    }
    if (this.#upstreamEnd === undefined) void this.#readToEnd()
    const last = await this.#settlement.settle(this.#upstreamEnd, { isRead: true })
    return last.length > 0 ? last : undefined
  }

  cancel(): void {
    if (this.#settlement.hasBegun || this.#onFinished !== undefined) return
    this.#onFinished = this.#beginFinishing()
    if (this.#onFinished !== undefined) {
      // A read that waits ends, and finishes the stream with what it got.
      if (this.#isReading) this.#watched?.interrupt()
      else void this.#finish(SILENCE)
      return
    }
    this.#upstream.cancel()
    this.#upstreamEnd ??= { end: 'aborted' }
    void this.#settlement.settle(this.#upstreamEnd, { isRead: false })
  }

  /** Returns undefined if the stream must end with its client, because it is free, complete or one too many. */
  #beginFinishing(): (() => void) | undefined {
    const { admitted, attempt } = this.#run
    if (attempt.destination.provider.finishAborted === undefined) return undefined
    if (this.#stream.isDone || this.#upstreamEnd !== undefined || !isOwed(this.#stream.reading()))
      return undefined
    return this.#finishing.begin(admitted.call.body.byteLength, () => this.#upstream.cancel())
  }

  /** Reads the rest of a stream for its charge only. `begun` is the result of the read that the client waited for. */
  async #finish(begun: Bytes | undefined | typeof SILENCE): Promise<void> {
    this.#run.admitted.call.record.clientDisconnected = true
    if (begun !== SILENCE) this.#pass(begun)
    let bytes = 0
    while (!this.#stream.isDone && this.#upstreamEnd === undefined) {
      const piece = await this.#upstream.read()
      bytes += piece?.length ?? 0
      if (bytes > FINISH_BYTES_MAX) this.#upstream.cancel()
      this.#pass(piece)
    }
    if (this.#upstreamEnd === undefined) void this.#readToEnd()
    await this.#settlement.settle(this.#upstreamEnd, { isRead: false, isFinished: true })
    this.#onFinished?.()
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
