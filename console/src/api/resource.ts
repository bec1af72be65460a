import { useCallback, useLayoutEffect, useState } from 'preact/hooks'

/** A value that is read from the gateway. While it is read again, the last value stays. */
export type Resource<Value> = {
  readonly value: Value | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
  readonly reload: () => void
}

type Kept<Value> = { readonly key: string; readonly value?: Value; readonly error?: Error }

/**
 * Reads a value when the component appears, and again when `key` changes: what the call depends on, such as an id and
 * filters. Answers that arrive after a later call began are dropped.
 */
export function useResource<Value>(key: string, read: () => Promise<Value>): Resource<Value> {
  const [kept, keep] = useState<Kept<Value>>()
  const [turn, setTurn] = useState(0)
  const [isLoading, setLoading] = useState(true)
  // An effect of the other kind waits for the next frame, which a slow machine draws late.
  useLayoutEffect(() => {
    let isCurrent = true
    setLoading(true)
    const done = (next: Kept<Value>) => {
      if (!isCurrent) return
      keep(next)
      setLoading(false)
    }
    const run = async () => {
      try {
        done({ key, value: await read() })
      } catch (error) {
        done({ key, error: error instanceof Error ? error : new Error(String(error)) })
      }
    }
    void run()
    return () => {
      isCurrent = false
    }
  }, [key, turn])
  const reload = useCallback(() => setTurn(turn => turn + 1), [])
  // The value of another key, such as another account, is never shown as this one's.
  const current = kept?.key === key ? kept : undefined
  return { value: current?.value, error: current?.error, isLoading, reload }
}
