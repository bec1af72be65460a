import type { StreamEnd, UpstreamStream } from '../../gateway/ports/text-provider.ts'
import { failureReason } from '../failure-reason.ts'
import type { CutCause, Cutoff } from './cutoff.ts'
import type { ReadPiece } from './read-answer.ts'

const ENDED: StreamEnd = { end: 'ended' }
const endOf = {
  timed_out: { end: 'idle' },
  aborted: { end: 'aborted' },
} as const satisfies Record<CutCause, StreamEnd>

/** The body of an answer. Each read may take `idleTimeoutMs`. Removes the limits at the end of the body. */
export function byteStream(readPiece: ReadPiece, limits: Cutoff, idleTimeoutMs: number): UpstreamStream {
  let end: StreamEnd | undefined

  const finish = (how: StreamEnd): void => {
    limits.lift()
    end ??= how
  }
  const nextPiece = () =>
    new Promise<Uint8Array<ArrayBuffer> | undefined>((onPiece, onFailed) => readPiece({ onPiece, onFailed }))

  return {
    get end() {
      return end
    },
    async read() {
      if (end !== undefined) return undefined
      limits.start(idleTimeoutMs)
      try {
        const piece = await nextPiece()
        const cause = limits.cause()
        // Bytes that arrive after a cut are dropped.
        if (cause !== undefined) finish(endOf[cause])
        else if (piece === undefined) finish(ENDED)
        else {
          limits.rest()
          return piece
        }
      } catch (error) {
        const cause = limits.cause()
        // If a compressed body cannot be decoded, its connection may still be open.
        limits.cut('aborted')
        finish(cause === undefined ? { end: 'broken', reason: failureReason(error) } : endOf[cause])
      }
      return undefined
    },
    cancel() {
      if (end !== undefined) return
      limits.cut('aborted')
      finish(endOf.aborted)
    },
  }
}
