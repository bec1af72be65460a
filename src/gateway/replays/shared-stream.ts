import { COMMENT } from '../../protocol/sse/heartbeat.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import type { ReplayBudget } from '../ports/requests/replays.ts'
import type { StreamEnding } from '../text/text-result.ts'
import { StreamBuffer } from './stream-buffer.ts'
import type { Bytes } from '../../domain/bytes.ts'

/**
 * How much of a stream is copied from its start, so that readers can still join and the answer can be kept. It is also
 * the largest answer that is kept.
 */
export const COPY_BYTES_MAX = 256 * 1024
/**
 * How far a follower may be behind the leader after the copy was dropped. It is twice the copy, so that a reader that
 * joins at the last moment can catch up.
 */
export const LAG_BYTES_MAX = 2 * COPY_BYTES_MAX

type Reader = {
  /** The position in the stream up to which it has read. */
  position: number
  /** The number of heartbeats that it has got or no longer needs. */
  heartbeats: number
  /** The last bytes of a reader that was dropped, until it has read them. */
  lagError: Bytes | undefined
  readonly makeLagError: () => Bytes
  readonly resolveEnded: (ending: StreamEnding) => void
}

export type StreamReader = ByteStream & {
  /** Resolves when this reader has read the whole stream (`isWhole`), was cancelled, or was dropped. */
  readonly ended: Promise<StreamEnding>
}

/**
 * One stream with many readers. Each gets all bytes from the start. A reader that has read everything reads the source
 * for all.
 *
 * The first reader is the leader. It is never slowed and never dropped. A follower that is too far behind the leader is
 * dropped, and one that is too far ahead of it waits. If the leader is cancelled, the next reader leads. If the last
 * reader is cancelled, the source is cancelled.
 */
export class SharedStream {
  /** Resolves when the source has ended. */
  readonly sourceEnded: Promise<void>
  readonly #resolveSourceEnded: () => void
  readonly #source: ByteStream
  readonly #onClosed: () => void
  /** In the order in which they joined. The first one is the leader. */
  readonly #readers: Reader[] = []
  /** The whole stream or, after the copy was dropped, the part that some reader has not read. */
  readonly #buffer: StreamBuffer
  /** The position at which the latest piece begins. */
  #latestPosition = 0
  /** The heartbeats so far. They are not kept: each goes to the readers that wait for the source. */
  #heartbeats = 0
  /** True until the start of the stream is dropped. */
  #isCopied = true
  #canJoin = true
  #hasEnded = false
  /** True while the source is read. One read serves all readers that wait. */
  #isReading = false
  /** Resolves when something changes for readers that wait. */
  #change: PromiseWithResolvers<void> | undefined

  /** `onClosed` is called once, when no reader can join any more. */
  constructor(source: ByteStream, ports: { readonly budget: ReplayBudget; readonly onClosed: () => void }) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.sourceEnded = promise
    this.#resolveSourceEnded = resolve
    this.#source = source
    this.#buffer = new StreamBuffer(ports.budget)
    this.#onClosed = ports.onClosed
  }

  /**
   * Adds a reader; undefined if the start of the stream was dropped. `makeLagError` makes the last bytes of a dropped
   * reader.
   */
  open(makeLagError: () => Bytes): StreamReader | undefined {
    if (!this.#canJoin) return undefined
    const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<StreamEnding>()
    const reader: Reader = {
      position: 0,
      heartbeats: this.#heartbeats,
      lagError: undefined,
      makeLagError,
      resolveEnded,
    }
    this.#readers.push(reader)
    return { read: () => this.#read(reader), cancel: () => this.#remove(reader), ended }
  }

  /** All bytes so far, valid until the next call for any stream; undefined if the copy was dropped. */
  copy(): Bytes | undefined {
    return this.#isCopied ? this.#buffer.whole() : undefined
  }

  /** Drops the copy. No reader can join any more. Repeating it changes nothing. */
  close(): void {
    if (!this.#isCopied) return
    this.#isCopied = false
    this.#dropRead()
    this.#endJoining()
  }

  #endJoining(): void {
    if (!this.#canJoin) return
    this.#canJoin = false
    this.#onClosed()
  }

  async #read(reader: Reader): Promise<Bytes | undefined> {
    for (;;) {
      if (!this.#readers.includes(reader)) return takeLagError(reader)
      const bytes = this.#buffer.from(reader.position)
      if (bytes !== undefined) {
        reader.position += bytes.length
        reader.heartbeats = this.#heartbeats
        this.#dropRead()
        this.#notifyReaders()
        return bytes
      }
      if (reader.heartbeats !== this.#heartbeats) {
        reader.heartbeats = this.#heartbeats
        return COMMENT
      }
      if (this.#hasEnded) {
        this.#remove(reader)
        return undefined
      }
      if (!this.#isReading && this.#mayReadSource(reader)) void this.#readSource()
      await this.#nextChange()
    }
  }

  /** A reader may go ahead of the leader while the bytes that wait for the leader are limited and within the budget. */
  #mayReadSource(reader: Reader): boolean {
    const leader = this.#readers[0]
    if (leader === undefined || reader === leader || this.#lag(leader) === 0) return true
    return this.#buffer.isWithinBudget && this.#lag(leader) < LAG_BYTES_MAX
  }

  /** The number of bytes that a reader has not read. */
  #lag({ position }: Reader): number {
    return this.#buffer.end - position
  }

  async #readSource(): Promise<void> {
    this.#isReading = true
    const piece = await this.#source.read()
    this.#isReading = false
    if (piece === undefined) this.#end()
    else if (piece === COMMENT) this.#heartbeats += 1
    else this.#append(piece)
    this.#notifyReaders()
    if (this.#readers.length === 0) this.#readToEnd()
  }

  #append(piece: Bytes): void {
    this.#latestPosition = this.#buffer.end
    this.#buffer.append(piece)
    if (this.#buffer.length > COPY_BYTES_MAX) this.close()
    this.#dropLaggedReaders()
  }

  #end(): void {
    this.#hasEnded = true
    this.#resolveSourceEnded()
    this.#dropRead()
  }

  #remove(reader: Reader): void {
    const index = this.#readers.indexOf(reader)
    if (index === -1) return
    this.#readers.splice(index, 1)
    reader.resolveEnded({ isWhole: this.#hasEnded && this.#lag(reader) === 0 })
    this.#dropRead()
    this.#notifyReaders()
    if (this.#readers.length > 0 || this.#hasEnded) return
    this.#source.cancel()
    this.#endJoining()
    // If the source was already settling when it was cancelled, its last bytes belong to the copy.
    this.#readToEnd()
  }

  #readToEnd(): void {
    if (!this.#hasEnded && !this.#isReading) void this.#readSource()
  }

  /** Keeps the buffer within its bounds: drops the copy first, and then the slowest followers. */
  #dropLaggedReaders(): void {
    if (!this.#isCopied) {
      for (const reader of this.#readers.slice(1)) if (this.#lag(reader) > LAG_BYTES_MAX) this.#drop(reader)
    }
    while (!this.#buffer.isWithinBudget) {
      if (this.#isCopied) this.close()
      else {
        const slowest = this.#slowestFollower()
        if (slowest === undefined) return
        this.#drop(slowest)
      }
    }
  }

  /** The follower with the largest lag. A follower that lacks only the latest piece is not slow. */
  #slowestFollower(): Reader | undefined {
    let slowest: Reader | undefined
    for (const reader of this.#readers.slice(1)) {
      const isSlow = reader.position < this.#latestPosition
      if (isSlow && reader.position < (slowest?.position ?? Infinity)) slowest = reader
    }
    return slowest
  }

  #drop(reader: Reader): void {
    reader.lagError = reader.makeLagError()
    this.#remove(reader)
  }

  /** Drops from the buffer what all readers have read, unless the copy is kept. */
  #dropRead(): void {
    if (this.#isCopied || this.#buffer.length === 0) return
    let position = this.#buffer.end
    for (const reader of this.#readers) position = Math.min(position, reader.position)
    this.#buffer.dropBefore(position)
  }

  #nextChange(): Promise<void> {
    return (this.#change ??= Promise.withResolvers<void>()).promise
  }

  #notifyReaders(): void {
    const change = this.#change
    if (change === undefined) return
    this.#change = undefined
    change.resolve()
  }
}

/** The last bytes of a dropped reader, once. */
function takeLagError(reader: Reader): Bytes | undefined {
  const { lagError } = reader
  reader.lagError = undefined
  return lagError
}
