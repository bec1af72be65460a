/** A filter by a day, which is typed key by key or chosen in a calendar. */
import { useEffect, useId, useRef } from 'preact/hooks'
import { isDay } from '../api/days.ts'
import { useQuery } from './filters.tsx'
import { inUtc, zoned } from './format.ts'

/**
 * The browser reports a change for each key that completes some day, such as the year 202 on the way to 2026. So a day
 * applies when the field is left, with Enter, or after this pause.
 */
const PAUSE_MS = 900

/** No record is older. An earlier day is one that is still being typed. */
const FIRST_DAY = '2020-01-01'
/** Without it, a year may have six digits. */
const LAST_DAY = '9999-12-31'

export function DayFilter({
  name,
  label,
  zone,
  otherwise = '',
}: {
  readonly name: string
  readonly label: string
  /** Reports count days in UTC, and lists in the time zone of the browser. */
  readonly zone: 'UTC' | 'browser'
  /** The day that applies while the address has none. */
  readonly otherwise?: string | undefined
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{zone === 'UTC' ? inUtc(label) : zoned(label)}</label>
      <input
        class="input"
        id={id}
        type="date"
        min={FIRST_DAY}
        max={LAST_DAY}
        {...useTypedDay(name, otherwise)}
      />
    </div>
  )
}

function useTypedDay(name: string, otherwise: string) {
  const [query, change] = useQuery()
  const ref = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const named = query[name]
  const value = isDay(named) ? named : otherwise
  useEffect(() => {
    // While the user types, the field has what is typed.
    if (ref.current !== null && document.activeElement !== ref.current) ref.current.value = value
  }, [value])
  const apply = () => {
    clearTimeout(timer.current)
    const field = ref.current
    // The value of an unfinished day is an empty text.
    if (field === null || !field.validity.valid || field.value === value) return
    change({ [name]: field.value })
  }
  return {
    ref,
    defaultValue: value,
    onInput: () => {
      clearTimeout(timer.current)
      timer.current = setTimeout(apply, PAUSE_MS)
    },
    onKeyDown: ({ key }: KeyboardEvent) => {
      if (key === 'Enter') apply()
    },
    onBlur: () => {
      apply()
      const field = ref.current
      if (field === null) return
      // A day that was left unfinished does not apply, and an empty field has the day that applies without it.
      if (!field.validity.valid) field.value = value
      else if (field.value === '') field.value = otherwise
    },
  }
}
