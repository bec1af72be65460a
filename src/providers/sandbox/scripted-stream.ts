import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import { pause, type Clock } from '../../gateway/ports/clock.ts'
import type { StreamEnd, UpstreamStream } from '../../gateway/ports/text-provider.ts'
import type { StreamScript } from './stream-script.ts'

type Limits = { readonly idleTimeoutMs: number; readonly signal: CallerSignal | undefined }

/** Plays a script: the first piece at once, the others at its pace, and each only when it is read. */
export function scriptedStream(
  script: StreamScript,
  clock: Clock,
  { idleTimeoutMs, signal }: Limits,
): UpstreamStream {
  const controller = new AbortController()
  const onAbort = () => controller.abort()
  signal?.addEventListener('abort', onAbort)
  let end: StreamEnd | undefined
  let isFirst = true

  const finish = (how: StreamEnd): StreamEnd => {
    signal?.removeEventListener('abort', onAbort)
    end ??= how
    return end
  }
  /** Waits. Resolves with the end of the stream if it ended during the wait. */
  const wait = async (delayMs: number): Promise<StreamEnd | undefined> => {
    const isOver = await pause(clock, Math.min(delayMs, idleTimeoutMs), controller.signal)
    if (!isOver) return finish({ end: 'aborted' })
    return delayMs < idleTimeoutMs ? undefined : finish({ end: 'idle' })
  }
  const atEnd = async (): Promise<StreamEnd> => {
    if (script.end === 'silent') return (await wait(Infinity)) ?? finish({ end: 'idle' })
    return finish(script.end === 'broken' ? { end: 'broken', reason: 'ECONNRESET' } : { end: 'ended' })
  }

  const next = async (): Promise<Uint8Array<ArrayBuffer> | StreamEnd> => {
    if (end !== undefined) return end
    if (controller.signal.aborted) return finish({ end: 'aborted' })
    const piece = script.pieces.next()
    if (piece.done === true) return atEnd()
    const isPaced = !isFirst && script.paceMs > 0
    isFirst = false
    return (isPaced ? await wait(script.paceMs) : undefined) ?? piece.value
  }

  return {
    get end() {
      return end
    },
    async read() {
      const piece = await next()
      return piece instanceof Uint8Array ? piece : undefined
    },
    cancel() {
      if (end !== undefined) return
      controller.abort()
      finish({ end: 'aborted' })
    },
  }
}
