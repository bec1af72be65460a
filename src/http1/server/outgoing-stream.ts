import type { Outgoing } from './outgoing.ts'

/** What is sent: read one piece at a time, the next one when the last one is with the kernel. */
export type StreamedBody = {
  read(): Promise<Uint8Array | undefined>
  cancel(): void
}

/** Sends a stream as its client takes it: the next piece is asked for when the last one is with the kernel. */
export class OutgoingStream {
  readonly #source: StreamedBody
  readonly #out: Outgoing
  readonly #isChunked: boolean
  readonly #onSent: () => void
  /** The head, until it goes with the first piece, which has come already as a rule. */
  #before: string
  #isCancelled = false

  /** `onSent` is called when all is with the kernel; never where it was cancelled. */
  constructor(
    source: StreamedBody,
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

  /** Sends all of it. Once only. */
  async start(): Promise<void> {
    let piece: Uint8Array | undefined
    do {
      piece = await this.#source.read()
      if (this.#isCancelled) return
      this.#send(piece)
      if (!this.#out.isSent) await this.#out.sent()
    } while (piece !== undefined && !this.#isCancelled)
    if (!this.#isCancelled) this.#onSent()
  }

  /** The client has left. */
  cancel(): void {
    this.#isCancelled = true
    this.#source.cancel()
  }

  #send(piece: Uint8Array | undefined): void {
    const out = this.#out
    const before = this.#before
    this.#before = ''
    if (piece === undefined) {
      if (this.#isChunked) out.sendLastChunk(before)
      else out.send(before)
    } else if (this.#isChunked) out.sendChunk(before, piece)
    else out.send(before, piece)
  }
}
