import type { Clock } from '../../gateway/ports/clock.ts'

/** Ends one exchange early: when a wait takes too long, or when its caller aborts. */
export type Cutoff = {
  /** Why the exchange was cut; undefined while it goes on, and for ever where it ended by itself. */
  cause(): CutCause | undefined
  /** From now on the exchange may take so long until `rest`, or else is cut. Starting again begins anew. */
  start(limitMs: number): void
  /** Nobody waits, so no time runs. */
  rest(): void
  /** Cuts the exchange, for good. */
  cut(cause: CutCause): void
  /** Lets go of timer and signal. Call it when the exchange is over, however it ended. */
  lift(): void
}

export type CutCause = 'timed_out' | 'aborted'

/** The first limit that passes does not cut yet: the exchange may go on for `lateMs`, and its caller's signal is nothing to it. */
export type Extension = { readonly lateMs: number; readonly begins: (abandon: () => void) => void }

type Terms = {
  readonly clock: Clock
  readonly caller: AbortSignal | undefined
  readonly extension: Extension | undefined
}

/**
 * One timer for each exchange: a shared sweep of deadlines was measured and saved nothing worth its code. A stream starts
 * and rests at every chunk, which only moves the deadline; the timer looks at it when it fires.
 */
export function cutoff(exchange: { readonly cut: () => void }, { clock, caller, extension }: Terms): Cutoff {
  let cause: CutCause | undefined
  let deadlineMs = Infinity
  let timer: { readonly atMs: number; readonly cancel: () => void } | undefined
  let isExtended = false

  const cut = (why: CutCause) => {
    if (cause !== undefined) return
    cause = why
    exchange.cut()
  }
  const setTimer = (atMs: number, nowMs: number) => {
    timer?.cancel()
    timer = { atMs, cancel: clock.after(atMs - nowMs, onTimer) }
  }
  const onTimer = () => {
    timer = undefined
    const nowMs = clock.now()
    if (nowMs >= deadlineMs) expire(nowMs)
    // At rest there is none: the next start sets it.
    else if (deadlineMs !== Infinity) setTimer(deadlineMs, nowMs)
  }
  const expire = (nowMs: number) => {
    if (extension === undefined || isExtended) return cut('timed_out')
    isExtended = true
    caller?.removeEventListener('abort', onAbort)
    deadlineMs = nowMs + extension.lateMs
    setTimer(deadlineMs, nowMs)
    extension.begins(onAbort)
  }
  const onAbort = () => cut('aborted')
  caller?.addEventListener('abort', onAbort)

  return {
    cause: () => cause,
    start(limitMs) {
      const nowMs = clock.now()
      deadlineMs = nowMs + limitMs
      if (timer === undefined || timer.atMs > deadlineMs) setTimer(deadlineMs, nowMs)
    },
    rest() {
      deadlineMs = Infinity
    },
    cut,
    lift() {
      timer?.cancel()
      timer = undefined
      caller?.removeEventListener('abort', onAbort)
    },
  }
}
