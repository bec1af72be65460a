import type { ByteStream, StreamEnd, TakePiece } from '../../gateway/ports/text-provider.ts'
import { failureReason } from '../failure-reason.ts'
import type { PieceReceiver } from '../../http1/client/http-client.ts'
import type { CutCause, Cutoff } from './cutoff.ts'
import type { ReadPiece } from './read-answer.ts'

const ENDED: StreamEnd = { end: 'ended' }
const endOf = {
  timed_out: { end: 'idle' },
  aborted: { end: 'aborted' },
} as const satisfies Record<CutCause, StreamEnd>

/** An answer's body, read one piece at a time, each within `idleTimeoutMs`. Lifts the limits when it is over. */
export function byteStream(readPiece: ReadPiece, limits: Cutoff, idleTimeoutMs: number): ByteStream {
  let end: StreamEnd | undefined
  let waiting: TakePiece | undefined

  const finish = (how: StreamEnd): StreamEnd => {
    limits.lift()
    end ??= how
    return end
  }
  const give = (piece: Uint8Array<ArrayBuffer> | StreamEnd) => {
    const take = waiting
    waiting = undefined
    take?.(piece)
  }
  const receiver: PieceReceiver = {
    // What is still on its way when the exchange is cut is not handed over.
    onPiece(piece) {
      const cause = limits.cause()
      if (cause !== undefined) return give(finish(endOf[cause]))
      if (piece === undefined) return give(finish(ENDED))
      limits.rest()
      give(piece)
    },
    onFailed(error) {
      const cause = limits.cause()
      // What cannot be unpacked may still be on its way: nobody would read it, nor watch for its end.
      limits.cut('aborted')
      give(finish(cause === undefined ? { end: 'broken', reason: failureReason(error) } : endOf[cause]))
    },
  }

  return {
    read(take) {
      if (end !== undefined) return take(end)
      waiting = take
      limits.start(idleTimeoutMs)
      readPiece(receiver)
    },
    cancel() {
      if (end !== undefined) return
      limits.cut('aborted')
      finish(endOf.aborted)
    },
  }
}
