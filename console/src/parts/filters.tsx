/** Filters, which are in the address: a page can be sent to a colleague, and the back button works. */
import { useLocation } from 'preact-iso'
import { isDay } from '../api/utc-days.ts'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import type { Choice } from './form.tsx'
import { Empty } from './notes.tsx'
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
  return <TypedFilter name={name} label={label} class="field search" />
}

/** A filter by a short text, such as the name of a model. */
export function TextFilter(props: {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
}) {
  return <TypedFilter {...props} class="field" />
}

function TypedFilter({
  name,
  label,
  placeholder,
  class: frame,
}: {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly class: string
}) {
  const [query, change] = useQuery()
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const value = query[name] ?? ''
  useEffect(() => {
    // The back button, or a button that clears the filters, has changed the address.
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value
  }, [value])
  const type = (text: string) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => change({ [name]: text.trim() }), TYPING_MS)
  }
  return (
    <div class={frame}>
      <label for={id}>{label}</label>
      <input
        class="input"
        ref={input}
        id={id}
        type="search"
        placeholder={placeholder}
        defaultValue={value}
        onInput={event => type(event.currentTarget.value)}
      />
    </div>
  )
}

/** A filter with fixed choices. The empty choice is all, or what `otherwise` says. */
export function ChoiceFilter({
  name,
  label,
  choices,
  otherwise = texts.parts.all,
}: {
  readonly name: string
  readonly label: string
  readonly choices: readonly Choice<string>[]
  readonly otherwise?: string
}) {
  const [query, change] = useQuery()
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select class="input" id={id} onChange={event => change({ [name]: event.currentTarget.value })}>
        <option value="">{otherwise}</option>
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
  readonly otherwise?: string | undefined
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

/** Filters that are needed less often. Open while one of them is in use. */
export function MoreFilters({
  names,
  children,
}: {
  readonly names: readonly string[]
  readonly children: ComponentChildren
}) {
  const [query] = useQuery()
  return (
    <details class="more-filters" open={names.some(name => query[name] !== undefined)}>
      <summary>{texts.parts.moreFilters}</summary>
      <div class="filters">{children}</div>
    </details>
  )
}

/** The list is empty: because of the filters `names`, or because there is nothing yet, which `children` say. */
export function NoRows({
  names,
  children,
}: {
  readonly names: readonly string[]
  readonly children: ComponentChildren
}) {
  const [query, change] = useQuery()
  const used = [...names, 'cursor'].filter(name => query[name] !== undefined)
  if (used.length === 0) return <>{children}</>
  return (
    <Empty title={texts.parts.nothingMatches} text={texts.parts.nothingMatchesText}>
      <button
        type="button"
        class="button"
        onClick={() => change(Object.fromEntries(used.map(name => [name, ''])))}
      >
        {texts.parts.clearFilters}
      </button>
    </Empty>
  )
}

/** `from` and `to` of a list, from the days of the address. Both days are included, in the time zone of the browser. */
export function daysOf(query: Query): { readonly from?: string; readonly to?: string } {
  // An address can have any text.
  const [from, to] = [query['from'], query['to']].map(day => (isDay(day) ? day : undefined))
  if (from === undefined && to === undefined) return {}
  const end = to === undefined ? undefined : startOfDay(to, 1)
  const begin = from === undefined ? startOfDay(to ?? '', -DAYS_WITHOUT_FROM) : startOfDay(from)
  return { from: begin, ...(end !== undefined && { to: end }) }
}

/** Like `daysOf`, for a list whose range may be of any length: one of the two days is enough. */
export function openDaysOf(query: Query): { readonly from?: string; readonly to?: string } {
  const { from, to } = query
  return { ...(isDay(from) && { from: startOfDay(from) }), ...(isDay(to) && { to: startOfDay(to, 1) }) }
}

/** A list with only a last day begins this long before it. */
const DAYS_WITHOUT_FROM = 30

function startOfDay(day: string, daysLater = 0): string {
  const at = new Date(`${day}T00:00:00`)
  at.setDate(at.getDate() + daysLater)
  return at.toISOString()
}
