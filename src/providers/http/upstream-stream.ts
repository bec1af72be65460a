import type { StreamEnd, UpstreamStream } from '../../gateway/ports/text-provider.ts'
import type { OwnedByteStream } from '../../http1/byte-stream.ts'
import type { CutCause, Cutoff } from './cutoff.ts'
import { failureReason } from './failure-reason.ts'

const endOf = {
  timed_out: { end: 'idle' },
  aborted: { end: 'aborted' },
} as const satisfies Record<CutCause, StreamEnd>

/** The body of a streamed answer. Each read may take `idleTimeoutMs`. Releases the cutoff at the end of the body. */
export function upstreamStream(body: OwnedByteStream, cutoff: Cutoff, idleTimeoutMs: number): UpstreamStream {
  let end: StreamEnd | undefined

  const finish = (how: StreamEnd): undefined => {
    cutoff.release()
    end ??= how
  }
  const finishFailed = (error: unknown): undefined => {
    const { cause } = cutoff
    // If a compressed body cannot be decompressed, its connection is still open.
    cutoff.cut('aborted')
    return finish(cause === undefined ? { end: 'broken', reason: failureReason(error) } : endOf[cause])
  }

  return {
    get end() {
      return end
    },
    async read() {
      if (end !== undefined) return undefined
      cutoff.start(idleTimeoutMs)
      try {
        const piece = await body.read()
        // Bytes that arrive after a cut are dropped.
        if (cutoff.cause !== undefined) return finish(endOf[cutoff.cause])
        if (piece === undefined) return finish({ end: 'ended' })
        cutoff.pause()
        return piece
      } catch (error) {
        return finishFailed(error)
      }
    },
    cancel() {
      if (end !== undefined) return
      cutoff.cut('aborted')
      finish(endOf.aborted)
    },
  }
}
