/** Filters, which are in the address: a page can be sent to a colleague, and the back button works. */
import { useLocation } from 'preact-iso'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { partsTexts } from './texts.ts'
import type { Choice } from './form.tsx'
import { Empty } from './notes.tsx'
import type { ComponentChildren, TargetedEvent, TargetedInputEvent } from 'preact'

export type Query = Readonly<Record<string, string>>

/** The query of the address, and a function that changes some of it. An empty text removes a name. */
export function useQuery(): readonly [Query, (changed: Query, how?: 'replace' | 'push') => void] {
  const { query, route } = useLocation()
  const change = (changed: Query, how: 'replace' | 'push' = 'replace') => {
    const next = new URLSearchParams(location.search)
    // A field that is left without a change must not go back to the first page of results.
    if (Object.entries(changed).every(([name, value]) => (next.get(name) ?? '') === value)) return
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

/** The parameters of these names that the address has, for a list that takes them as they are. */
export function chosen<Name extends string>(
  query: Query,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const pairs = names.flatMap(name => (query[name] === undefined ? [] : [[name, query[name]] as const]))
  return Object.fromEntries(pairs) as Partial<Record<Name, string>>
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
  label = partsTexts.search,
  ...more
}: {
  readonly label?: string
  readonly format?: Format
}) {
  return <TypedFilter name="search" label={label} {...more} class="field search" />
}

/** A filter by a short text, such as the name of a model. */
export function TextFilter(props: {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  /** What a complete text looks like, for filters that the gateway refuses otherwise. */
  readonly format?: Format
}) {
  return <TypedFilter {...props} class="field" />
}

export type Format = { readonly pattern: string; readonly problem: string }

function TypedFilter({
  name,
  label,
  placeholder,
  format,
  class: frame,
}: {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly format?: Format
  readonly class: string
}) {
  const id = useId()
  const { isWrong, value, ...field } = useTyped(name)
  return (
    <div class={frame}>
      <label for={id}>{label}</label>
      <input
        class="input"
        id={id}
        type="search"
        placeholder={placeholder}
        pattern={format?.pattern}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? `${id}-problem` : undefined}
        defaultValue={value}
        {...field}
      />
      {isWrong && (
        <span class="problem" id={`${id}-problem`}>
          {format?.problem}
        </span>
      )}
    </div>
  )
}

/** The state of a field whose text is in the address. A text applies after a pause, and only if it is valid. */
function useTyped(name: string) {
  const [query, change] = useQuery()
  const ref = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [isWrong, setWrong] = useState(false)
  useEffect(() => () => clearTimeout(timer.current), [])
  const value = query[name] ?? ''
  useEffect(() => {
    if (ref.current === null || document.activeElement === ref.current) return
    // The back button, or a button that clears the filters, has changed the address.
    ref.current.value = value
    setWrong(!ref.current.validity.valid)
  }, [value])
  const apply = (field: HTMLInputElement) => {
    clearTimeout(timer.current)
    if (field.validity.valid) change({ [name]: field.value.trim() })
  }
  return {
    ref,
    value,
    isWrong,
    onInput: ({ currentTarget: field }: TargetedInputEvent<HTMLInputElement>) => {
      setWrong(false)
      clearTimeout(timer.current)
      timer.current = setTimeout(apply, TYPING_MS, field)
    },
    onChange: ({ currentTarget: field }: TargetedEvent<HTMLInputElement>) => {
      setWrong(!field.validity.valid)
      apply(field)
    },
  }
}

/** A filter with fixed choices. The empty choice is all, or what `otherwise` says. */
export function ChoiceFilter({
  name,
  label,
  choices,
  otherwise = partsTexts.all,
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

/** Filters that are needed less often. Opens when one of them is in use, and stays open when it is cleared. */
export function MoreFilters({
  names,
  children,
}: {
  readonly names: readonly string[]
  readonly children: ComponentChildren
}) {
  const [query] = useQuery()
  const isOpen = useRef(false)
  isOpen.current ||= names.some(name => query[name] !== undefined)
  return (
    <details class="more-filters" open={isOpen.current}>
      <summary>{partsTexts.moreFilters}</summary>
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
  const [query] = useQuery()
  const used = [...names, 'cursor'].filter(name => query[name] !== undefined)
  if (used.length === 0) return <>{children}</>
  return <NothingMatches names={used} />
}

/** No row matches the filters `names`. Says so, and clears them at the press of a button. */
export function NothingMatches({
  names,
  text = partsTexts.nothingMatchesText,
}: {
  readonly names: readonly string[]
  readonly text?: string
}) {
  const [, change] = useQuery()
  return (
    <Empty title={partsTexts.nothingMatches} text={text}>
      <button
        type="button"
        class="button"
        onClick={() => change(Object.fromEntries(names.map(name => [name, ''])))}
      >
        {partsTexts.clearFilters}
      </button>
    </Empty>
  )
}
