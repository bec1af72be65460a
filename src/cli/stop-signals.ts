/** Signals within this time count as one. For one Ctrl-C, the terminal and npm can both send a signal. */
const SAME_SIGNAL_MS = 1000

export type StopSignals = {
  /** Called at the first signal. */
  readonly stop: () => void
  /** Called at each signal that follows at least a second later. */
  readonly end: () => void
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
}

/** Returns what each signal calls. */
export function stopSignals({ stop, end, elapsedMs }: StopSignals): () => void {
  let firstMs: number | undefined
  return () => {
    const nowMs = elapsedMs()
    if (firstMs === undefined) {
      firstMs = nowMs
      stop()
    } else if (nowMs - firstMs >= SAME_SIGNAL_MS) end()
  }
}
