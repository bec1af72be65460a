import type { ByteSource } from '../../gateway/byte-source.ts'
import type { Outgoing } from './outgoing.ts'

/** Sends a stream as its client takes it: the next piece is asked for when the last one is with the kernel. */
export class OutgoingStream {
  readonly #source: ByteSource
  readonly #out: Outgoing
  #isCancelled = false

  constructor(source: ByteSource, out: Outgoing) {
    this.#source = source
    this.#out = out
  }

  /** Resolves when all is sent; false where it was cancelled. `head` goes with the first piece, which has come already as a rule. */
  async send(head: string, { isChunked }: { readonly isChunked: boolean }): Promise<boolean> {
    const out = this.#out
    let before = head
    for (;;) {
      const piece = await this.#source.read()
      if (this.#isCancelled) return false
      if (piece === undefined) break
      if (isChunked) out.sendChunk(before, piece)
      else out.send(before, piece)
      before = ''
      if (!out.isSent) await out.sent()
      if (this.#isCancelled) return false
    }
    if (isChunked) out.sendLastChunk(before)
    else out.send(before)
    if (!out.isSent) await out.sent()
    return !this.#isCancelled
  }

  /** The client has left. */
  cancel(): void {
    this.#isCancelled = true
    this.#source.cancel()
  }
}
