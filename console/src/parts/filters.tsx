/** Filters, which are in the address: a page can be sent to a colleague, and the back button works. */
import { useLocation } from 'preact-iso'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import type { Choice } from './form.tsx'
import type { ComponentChildren } from 'preact'

export type Query = Readonly<Record<string, string>>

/** The query of the address, and a function that changes some of it. An empty text removes a name. */
export function useQuery(): readonly [Query, (changed: Query, how?: 'replace' | 'push') => void] {
  const { query, route } = useLocation()
  const change = (changed: Query, how: 'replace' | 'push' = 'replace') => {
    const next = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(changed)) {
      if (value === '') next.delete(name)
      else next.set(name, value)
    }
    // Another filter begins at the first page of results.
    if (!('cursor' in changed)) next.delete('cursor')
    const search = next.toString()
    route(`${location.pathname}${search === '' ? '' : `?${search}`}`, how === 'replace')
  }
  return [query, change]
}

/** The parameter of a list of the gateway. */
export function cursorOf({ cursor }: Query): { readonly cursor?: string } {
  return cursor === undefined ? {} : { cursor }
}

export function Filters({ children }: { readonly children: ComponentChildren }) {
  return (
    <form class="filters" role="search" onSubmit={event => event.preventDefault()}>
      {children}
    </form>
  )
}

/** Between two keys, so that a word is one search. */
const TYPING_MS = 250

export function SearchFilter({
  name = 'search',
  label = texts.parts.search,
}: {
  readonly name?: string
  readonly label?: string
}) {
  const [query, change] = useQuery()
  const id = useId()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const type = (text: string) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => change({ [name]: text.trim() }), TYPING_MS)
  }
  return (
    <div class="field search">
      <label for={id}>{label}</label>
      <input
        class="input"
        id={id}
        type="search"
        defaultValue={query[name] ?? ''}
        onInput={event => type(event.currentTarget.value)}
      />
    </div>
  )
}

/** A filter with fixed choices. The empty choice is all. */
export function ChoiceFilter({
  name,
  label,
  choices,
}: {
  readonly name: string
  readonly label: string
  readonly choices: readonly Choice<string>[]
}) {
  const [query, change] = useQuery()
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select class="input" id={id} onChange={event => change({ [name]: event.currentTarget.value })}>
        <option value="">{texts.parts.all}</option>
        {choices.map(({ value, label }) => (
          <option key={value} value={value} selected={query[name] === value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A day, such as the first of a report. */
export function DayFilter({
  name,
  label,
  otherwise = '',
}: {
  readonly name: string
  readonly label: string
  /** The day that applies while the address has none. */
  readonly otherwise?: string
}) {
  const [query, change] = useQuery()
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        class="input"
        id={id}
        type="date"
        value={query[name] ?? otherwise}
        onChange={event => change({ [name]: event.currentTarget.value })}
      />
    </div>
  )
}
