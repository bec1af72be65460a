import type { ByteStream } from '../ports/byte-stream.ts'
import type { ReplayBudget } from '../ports/replays.ts'
import { StreamBuffer } from './stream-buffer.ts'

type Bytes = Uint8Array<ArrayBuffer>

/**
 * How much of a stream is copied whole, so that a reader may still join it and it can be replayed: the bound of an answer
 * that is kept.
 */
export const COPY_BYTES_MAX = 256 * 1024
/**
 * How far behind the others a reader may be once the copy is given up. Twice the copy, so that one who joins at the last
 * moment can catch up.
 */
export const BEHIND_BYTES_MAX = 2 * COPY_BYTES_MAX
type Reader = {
  /** The place in the stream that it has read up to. */
  at: number
  /** The last bytes of one that is lost, until it was given them. */
  lastWord: Bytes | undefined
  readonly makeLastWord: () => Bytes
  readonly tellDone: (how: { readonly isWhole: boolean }) => void
}

export type StreamReader = ByteStream & {
  /** Resolves when this reader has read to the end (`isWhole`), has left, or was lost. */
  readonly done: Promise<{ readonly isWhole: boolean }>
}

/**
 * One stream read by many. Each gets the same bytes from the start, and asks the source for more when it has read all there
 * is. The first to come is the leader: nobody slows it, and it loses nothing. A follower that falls too far behind is lost,
 * and one that is too far ahead of the leader waits. When the leader leaves, the next one leads; when the last one leaves, the
 * source is cancelled.
 */
export class SharedStream {
  /** Resolves when the source is over. */
  readonly over: Promise<void>
  readonly #tellOver: () => void
  readonly #source: ByteStream
  readonly #budget: ReplayBudget
  readonly #onClosed: () => void
  /** In the order they came: the first one leads. */
  readonly #readers: Reader[] = []
  /** All from the start or, once the copy is given up, what some reader has yet to read. */
  readonly #held = new StreamBuffer()
  /** Where the piece that came last begins. */
  #newestAt = 0
  #takenFromBudget = 0
  #isShortOfBudget = false
  /** Nothing was forgotten yet. */
  #isCopied = true
  #mayJoin = true
  #isOver = false
  /** True while the source is read: one read at a time serves all readers that wait. */
  #isPulling = false
  #moving: PromiseWithResolvers<void> | undefined

  /** `onClosed` is called once, when readers can join no more. */
  constructor(source: ByteStream, ports: { readonly budget: ReplayBudget; readonly onClosed: () => void }) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.over = promise
    this.#tellOver = resolve
    this.#source = source
    this.#budget = ports.budget
    this.#onClosed = ports.onClosed
  }

  /** A reader from the start, or undefined where it is too late for one. `makeLastWord` is for one that is lost. */
  open(makeLastWord: () => Bytes): StreamReader | undefined {
    if (!this.#mayJoin) return undefined
    const { promise: done, resolve: tellDone } = Promise.withResolvers<{ isWhole: boolean }>()
    const reader: Reader = { at: 0, lastWord: undefined, makeLastWord, tellDone }
    this.#readers.push(reader)
    return { read: () => this.#read(reader), cancel: () => this.#depart(reader), done }
  }

  /** All bytes so far, to be used at once; undefined where the copy was given up. */
  copy(): Bytes | undefined {
    return this.#isCopied ? this.#held.whole() : undefined
  }

  /** Gives the copy up: nobody joins any more, and what all have read is forgotten. Repeating it changes nothing. */
  close(): void {
    if (!this.#isCopied) return
    this.#isCopied = false
    this.#forgetRead()
    this.#endJoining()
  }

  #endJoining(): void {
    if (!this.#mayJoin) return
    this.#mayJoin = false
    this.#onClosed()
  }

  async #read(reader: Reader): Promise<Bytes | undefined> {
    for (;;) {
      if (!this.#readers.includes(reader)) return takeLastWord(reader)
      const held = this.#held.from(reader.at)
      if (held !== undefined) return this.#hand(held, reader)
      if (this.#isOver) {
        this.#depart(reader)
        return undefined
      }
      if (!this.#isPulling && this.#mayPull(reader)) void this.#pull()
      await this.#nextMove()
    }
  }

  #hand(bytes: Bytes, reader: Reader): Bytes {
    reader.at += bytes.length
    this.#forgetRead()
    this.#tellMove()
    return bytes
  }

  /** One that is ahead may go on while what waits for the leader is bounded, and paid for by the budget. */
  #mayPull(reader: Reader): boolean {
    const leader = this.#readers[0]
    if (leader === undefined || reader === leader || this.#behind(leader) === 0) return true
    return !this.#isShortOfBudget && this.#behind(leader) < BEHIND_BYTES_MAX
  }

  /** What a reader has yet to read. */
  #behind({ at }: Reader): number {
    return this.#held.end - at
  }

  /** Reads the next piece of the source, for the readers and the copy. */
  async #pull(): Promise<void> {
    this.#isPulling = true
    const piece = await this.#source.read()
    this.#isPulling = false
    if (piece === undefined) this.#end()
    else this.#append(piece)
    if (this.#readers.length === 0) this.#readToEnd()
  }

  #append(piece: Bytes): void {
    this.#newestAt = this.#held.end
    this.#held.append(piece)
    if (this.#held.length > COPY_BYTES_MAX) this.close()
    this.#keepWithinBounds()
    this.#tellMove()
  }

  #end(): void {
    this.#isOver = true
    this.#tellOver()
    this.#forgetRead()
    this.#tellMove()
  }

  #depart(reader: Reader): void {
    const index = this.#readers.indexOf(reader)
    if (index === -1) return
    this.#readers.splice(index, 1)
    reader.tellDone({ isWhole: this.#isOver && this.#behind(reader) === 0 })
    this.#forgetRead()
    this.#tellMove()
    if (this.#readers.length > 0 || this.#isOver) return
    this.#source.cancel()
    this.#endJoining()
    // What the source had settled before it was cancelled still belongs to the copy.
    this.#readToEnd()
  }

  #readToEnd(): void {
    if (!this.#isOver && !this.#isPulling) void this.#pull()
  }

  #keepWithinBounds(): void {
    if (!this.#isCopied) {
      for (const reader of this.#readers.slice(1))
        if (this.#behind(reader) > BEHIND_BYTES_MAX) this.#lose(reader)
    }
    while (!this.#payForHeld()) {
      if (this.#isCopied) this.close()
      else {
        const slowest = this.#slowestFollower()
        if (slowest === undefined) return
        this.#lose(slowest)
      }
    }
  }

  /** The follower with the most to read. One that lacks only the newest piece is not slow. */
  #slowestFollower(): Reader | undefined {
    let slowest: Reader | undefined
    for (const reader of this.#readers.slice(1)) {
      if (reader.at < this.#newestAt && reader.at < (slowest?.at ?? Infinity)) slowest = reader
    }
    return slowest
  }

  #lose(reader: Reader): void {
    reader.lastWord = reader.makeLastWord()
    this.#depart(reader)
  }

  #forgetRead(): void {
    if (this.#isCopied || this.#held.length === 0) return
    let at = this.#held.end
    for (const reader of this.#readers) at = Math.min(at, reader.at)
    this.#held.forget(at)
    this.#payForHeld()
  }

  /** Takes from the budget, or gives back, so that it says what is held; false where it has not enough. */
  #payForHeld(): boolean {
    const owed = this.#held.weight - this.#takenFromBudget
    if (owed < 0) this.#budget.give(-owed)
    this.#isShortOfBudget = owed > 0 && !this.#budget.take(owed)
    if (!this.#isShortOfBudget) this.#takenFromBudget += owed
    return !this.#isShortOfBudget
  }

  #nextMove(): Promise<void> {
    return (this.#moving ??= Promise.withResolvers<void>()).promise
  }

  #tellMove(): void {
    const moving = this.#moving
    if (moving === undefined) return
    this.#moving = undefined
    moving.resolve()
  }
}

/** Of one that was lost; the others have none. */
function takeLastWord(reader: Reader): Bytes | undefined {
  const { lastWord } = reader
  reader.lastWord = undefined
  return lastWord
}
