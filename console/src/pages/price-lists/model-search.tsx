/** Finds a model of the catalog for a price list. While one types, models whose id has the text are suggested. */
import type { RefObject } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Icon } from '../../parts/icon.tsx'
import { priceText } from '../models/prices.ts'
import type { ModelRows } from './own-prices.ts'
import { priceListsTexts } from './texts.ts'

const words = priceListsTexts
const SUGGESTIONS_MAX = 50

type Props = {
  readonly models: ModelRows
  /** The models that cannot be found, because the list has them. */
  readonly used: readonly string[]
  readonly onFound: (model: string) => void
}

/** It is inside a form, but has no name, so its text is not one of the values. */
export function ModelSearch({
  input,
  ...props
}: Props & { readonly input: RefObject<HTMLInputElement | null> }) {
  const id = useId()
  const { typed, problem, suggested, type, find } = useSearch(props)
  const add = () => {
    if (!find()) input.current?.focus()
  }
  return (
    <div class="field">
      <label for={id}>{words.addModel}</label>
      <div class="search-line">
        <input
          class="input"
          ref={input}
          id={id}
          type="search"
          list={`${id}-models`}
          autoComplete="off"
          placeholder={words.addModelHint}
          value={typed}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-problem`}
          onInput={({ currentTarget: { value } }) => type(value.trim())}
          onKeyDown={event => {
            if (event.key !== 'Enter') return
            // It would send the form.
            event.preventDefault()
            add()
          }}
        />
        <button type="button" class="button" onClick={add}>
          <Icon name="plus" />
          {words.addPrice}
        </button>
      </div>
      <datalist id={`${id}-models`}>
        {suggested.map(model => (
          <option key={model} value={model}>
            {priceText(props.models.get(model) ?? {})}
          </option>
        ))}
      </datalist>
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`}>
          <Icon name="warning" />
          {problem}
        </p>
      )}
    </div>
  )
}

/** The text with its suggestions. `find` passes the model on that it names, or returns false and sets the problem. */
function useSearch({ models, used, onFound }: Props) {
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const unused = [...models.keys()].filter(model => !used.includes(model))
  const type = (text: string) => {
    setTyped(text)
    setProblem(undefined)
  }
  const find = () => {
    const model = modelNamed(typed, unused)
    if (model === undefined) {
      setProblem(used.includes(typed) ? words.isInList : words.notFound)
      return false
    }
    type('')
    onFound(model)
    return true
  }
  return { typed, problem, suggested: modelsWith(typed, unused).slice(0, SUGGESTIONS_MAX), type, find }
}

/** The model that a text names, in upper or lower case. A part of its id is enough if no other has it. */
function modelNamed(text: string, ids: readonly string[]): string | undefined {
  if (text === '') return undefined
  const found = modelsWith(text, ids)
  return (
    found.find(id => id === text) ??
    found.find(id => id.toLowerCase() === text.toLowerCase()) ??
    (found.length === 1 ? found[0] : undefined)
  )
}

/** The models whose id has the text, in upper or lower case. */
function modelsWith(text: string, ids: readonly string[]): readonly string[] {
  const wanted = text.toLowerCase()
  return ids.filter(id => id.toLowerCase().includes(wanted))
}
