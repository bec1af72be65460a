import type { ByteSource, NextBytes } from '../../gateway/byte-source.ts'
import type { Outgoing } from './outgoing.ts'

/** Sends a stream as its client takes it: the next piece is asked for when the last one is with the kernel. */
export class OutgoingStream {
  readonly #source: ByteSource
  readonly #out: Outgoing
  readonly #isChunked: boolean
  readonly #onSent: () => void
  /** The head, until it goes with the first piece, which has come already as a rule. */
  #before: string
  #isAsking = false
  #mayAsk = false
  #isCancelled = false

  /** `onSent` is called when all is with the kernel; never where it was cancelled. */
  constructor(
    source: ByteSource,
    out: Outgoing,
    {
      head,
      isChunked,
      onSent,
    }: { readonly head: string; readonly isChunked: boolean; readonly onSent: () => void },
  ) {
    this.#source = source
    this.#out = out
    this.#before = head
    this.#isChunked = isChunked
    this.#onSent = onSent
  }

  /** Begins. Once only. */
  start(): void {
    this.#ask()
  }

  /** The client has left. */
  cancel(): void {
    this.#isCancelled = true
    this.#source.cancel()
  }

  readonly #take = (piece: NextBytes): void => {
    if (this.#isCancelled) return
    const out = this.#out
    const before = this.#before
    this.#before = ''
    if (piece === undefined) {
      if (this.#isChunked) out.sendLastChunk(before)
      else out.send(before)
    } else if (this.#isChunked) out.sendChunk(before, piece)
    else out.send(before, piece)
    const goOn = piece === undefined ? this.#end : this.#ask
    if (out.isSent) goOn()
    else void out.sent().then(goOn)
  }

  /** A source that has much at hand gives each piece within the asking: so this is a loop, and not a call within a call. */
  readonly #ask = (): void => {
    this.#mayAsk = true
    if (this.#isAsking) return
    this.#isAsking = true
    while (this.#mayAsk && !this.#isCancelled) {
      this.#mayAsk = false
      this.#source.read(this.#take)
    }
    this.#isAsking = false
  }

  readonly #end = (): void => {
    if (!this.#isCancelled) this.#onSent()
  }
}
