import { joinBytes } from '../../protocol/join-bytes.ts'
import type { ByteSource } from '../byte-source.ts'
import type { ReplayBudget } from '../ports/replays.ts'

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
/** What a piece weighs beside its bytes. */
const PIECE_BYTES = 128

type Reader = {
  /** The number of its next piece, counted from the start of the stream. */
  at: number
  behindBytes: number
  /** The last bytes of one that is lost, until it was given them. */
  lastWord: Bytes | undefined
  readonly makeLastWord: () => Bytes
  readonly tellDone: (how: { readonly isWhole: boolean }) => void
}

export type StreamReader = ByteSource & {
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
  /** Resolves when the source is over: with all its bytes or, where the copy was given up, with undefined. */
  readonly over: Promise<Bytes | undefined>
  readonly #tellOver: (copy: Bytes | undefined) => void
  readonly #source: ByteSource
  readonly #budget: ReplayBudget
  readonly #onClosed: () => void
  /** In the order they came: the first one leads. */
  readonly #readers = new Set<Reader>()
  /** All pieces from the start or, once the copy is given up, those that some reader has yet to read. */
  readonly #pieces: Bytes[] = []
  #droppedPieces = 0
  #heldBytes = 0
  #takenFromBudget = 0
  #isShortOfBudget = false
  /** Nothing was forgotten yet. */
  #isCopied = true
  #mayJoin = true
  #isOver = false
  #pulling: Promise<void> | undefined
  #moving: PromiseWithResolvers<void> | undefined

  /** `onClosed` is called once, when readers can join no more. */
  constructor(source: ByteSource, ports: { readonly budget: ReplayBudget; readonly onClosed: () => void }) {
    const { promise, resolve } = Promise.withResolvers<Bytes | undefined>()
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
    const reader: Reader = {
      at: 0,
      behindBytes: this.#heldBytes,
      lastWord: undefined,
      makeLastWord,
      tellDone,
    }
    this.#readers.add(reader)
    return { read: () => this.#read(reader), cancel: () => this.#depart(reader), done }
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
    while (this.#readers.has(reader)) {
      const piece = this.#pieces[reader.at - this.#droppedPieces]
      if (piece !== undefined) return this.#hand(piece, reader)
      if (this.#isOver) this.#depart(reader)
      else await (this.#mayPull(reader) ? this.#pull() : this.#nextMove())
    }
    const { lastWord } = reader
    reader.lastWord = undefined
    return lastWord
  }

  #hand(piece: Bytes, reader: Reader): Bytes {
    reader.at += 1
    reader.behindBytes -= piece.length
    this.#forgetRead()
    this.#tellMove()
    return piece
  }

  /** One that is ahead may go on while what waits for the leader is bounded, and paid for by the budget. */
  #mayPull(reader: Reader): boolean {
    const leader = this.#leader
    if (leader === undefined || reader === leader || leader.behindBytes === 0) return true
    return !this.#isShortOfBudget && leader.behindBytes < BEHIND_BYTES_MAX
  }

  get #leader(): Reader | undefined {
    const [leader] = this.#readers
    return leader
  }

  /** One read of the source at a time, for all who wait for it. */
  #pull(): Promise<void> {
    return (this.#pulling ??= this.#readSource())
  }

  async #readSource(): Promise<void> {
    const piece = await this.#source.read()
    this.#pulling = undefined
    if (piece === undefined) this.#end()
    else this.#append(piece)
  }

  #append(piece: Bytes): void {
    this.#pieces.push(piece)
    this.#heldBytes += piece.length
    for (const reader of this.#readers) reader.behindBytes += piece.length
    if (this.#heldBytes > COPY_BYTES_MAX) this.close()
    this.#keepWithinBounds()
    this.#tellMove()
  }

  #end(): void {
    this.#isOver = true
    this.#tellOver(this.#isCopied ? joinBytes(this.#pieces) : undefined)
    this.#forgetRead()
    this.#tellMove()
  }

  #depart(reader: Reader): void {
    if (!this.#readers.delete(reader)) return
    reader.tellDone({ isWhole: this.#isOver && reader.at === this.#droppedPieces + this.#pieces.length })
    this.#forgetRead()
    this.#tellMove()
    if (this.#readers.size > 0 || this.#isOver) return
    this.#source.cancel()
    this.#endJoining()
    // What the source had settled before it was cancelled still belongs to the copy.
    void this.#readToEnd()
  }

  async #readToEnd(): Promise<void> {
    while (!this.#isOver) await this.#pull()
  }

  #keepWithinBounds(): void {
    if (!this.#isCopied) {
      for (const reader of this.#followers()) if (reader.behindBytes > BEHIND_BYTES_MAX) this.#lose(reader)
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
    const newest = this.#droppedPieces + this.#pieces.length - 1
    let slowest: Reader | undefined
    for (const reader of this.#followers()) {
      if (reader.at < newest && reader.at < (slowest?.at ?? Infinity)) slowest = reader
    }
    return slowest
  }

  #followers(): Reader[] {
    return [...this.#readers].slice(1)
  }

  #lose(reader: Reader): void {
    reader.lastWord = reader.makeLastWord()
    this.#depart(reader)
  }

  #forgetRead(): void {
    if (this.#isCopied) return
    let nextAt = this.#droppedPieces + this.#pieces.length
    for (const { at } of this.#readers) nextAt = Math.min(nextAt, at)
    const count = nextAt - this.#droppedPieces
    if (count === 0) return
    for (const piece of this.#pieces.splice(0, count)) this.#heldBytes -= piece.length
    this.#droppedPieces = nextAt
    this.#payForHeld()
  }

  /** Takes from the budget, or gives back, so that it says what is held; false where it has not enough. */
  #payForHeld(): boolean {
    const owed = this.#heldBytes + this.#pieces.length * PIECE_BYTES - this.#takenFromBudget
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
