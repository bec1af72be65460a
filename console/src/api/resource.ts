import { useCallback, useLayoutEffect, useState } from 'preact/hooks'

/** A value that is read from the gateway. While it is read again, the last value stays. */
export type Resource<Value> = {
  readonly value: Value | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** Whether the value is that of another key of the same subject. Undefined if such values are not kept. */
  readonly isOld?: boolean
  readonly reload: () => void
}

type Kept<Value> = {
  readonly key: string
  readonly subject: string | undefined
  readonly value?: Value
  readonly error?: Error
}

/**
 * Reads a value when the component appears, and again when `key` changes: what the call depends on, such as an id and
 * filters. Answers that arrive after a later call began are dropped. `read` can also pass its signal to the call, which
 * then ends with the component and when a later call begins.
 *
 * The value of another key, such as another account, is never shown as this one's. With a `subject`, such as the list
 * that filters are about, the last value of the subject stays until that of the new key arrives.
 */
export function useResource<Value>(
  key: string,
  read: (signal: AbortSignal) => Promise<Value>,
  { subject }: { readonly subject?: string } = {},
): Resource<Value> {
  const [kept, keep] = useState<Kept<Value>>()
  const [turn, setTurn] = useState(0)
  const [isLoading, setLoading] = useState(true)
  // An effect of the other kind waits for the next frame, which a slow machine draws late.
  useLayoutEffect(() => {
    const stop = new AbortController()
    setLoading(true)
    const done = (next: Kept<Value>) => {
      if (stop.signal.aborted) return
      keep(next)
      setLoading(false)
    }
    const run = async () => {
      try {
        done({ key, subject, value: await read(stop.signal) })
      } catch (error) {
        done({ key, subject, error: error instanceof Error ? error : new Error(String(error)) })
      }
    }
    void run()
    return () => stop.abort()
  }, [key, turn])
  const reload = useCallback(() => setTurn(turn => turn + 1), [])
  const current = kept?.key === key ? kept : undefined
  if (subject === undefined) return { value: current?.value, error: current?.error, isLoading, reload }
  const old = current === undefined && kept?.subject === subject ? kept.value : undefined
  return {
    value: current?.value ?? old,
    error: current?.error,
    isLoading,
    isOld: old !== undefined,
    reload,
  }
}
