import type { ByteStream, StreamEnd } from '../../gateway/ports/text-provider.ts'
import type { CutCause, Cutoff } from './cutoff.ts'
import { failureReason } from '../failure-reason.ts'
import type { ReadPiece } from './read-answer.ts'

const ENDED: StreamEnd = { end: 'ended' }
const endOf = {
  timed_out: { end: 'idle' },
  aborted: { end: 'aborted' },
} as const satisfies Record<CutCause, StreamEnd>

/** An answer's body, read one piece at a time, each within `idleTimeoutMs`. Lifts the limits when it is over. */
export function byteStream(readPiece: ReadPiece, limits: Cutoff, idleTimeoutMs: number): ByteStream {
  let end: StreamEnd | undefined

  const finish = (how: StreamEnd): StreamEnd => {
    limits.lift()
    end ??= how
    return end
  }
  // What is still on its way when the exchange is cut is not handed over.
  const onRead = (piece: Uint8Array<ArrayBuffer> | undefined) => {
    const cause = limits.cause()
    if (cause !== undefined) return finish(endOf[cause])
    if (piece === undefined) return finish(ENDED)
    limits.rest()
    return piece
  }
  const onError = (error: unknown) => {
    const cause = limits.cause()
    return finish(cause === undefined ? { end: 'broken', reason: failureReason(error) } : endOf[cause])
  }
  const read = (): Promise<Uint8Array<ArrayBuffer> | StreamEnd> => {
    if (end !== undefined) return Promise.resolve(end)
    limits.start(idleTimeoutMs)
    return readPiece().then(onRead, onError)
  }

  return {
    read,
    cancel() {
      if (end !== undefined) return
      limits.cut('aborted')
      finish(endOf.aborted)
    },
  }
}
