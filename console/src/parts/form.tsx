/**
 * Forms: native fields and validation. An error of the gateway appears at the field that it names, or below the fields.
 */
import {
  createContext,
  type ComponentChildren,
  type JSX,
  type TargetedEvent,
  type TargetedInputEvent,
} from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'
import { partsTexts } from './texts.ts'
import { Icon } from './icon.tsx'
import { Note } from './notes.tsx'

/** The refusal of the last submit, and the field with this name. */
const Refusal = createContext<{ readonly name: string; readonly message: string } | undefined>(undefined)

export type FormValues = Readonly<Record<string, string>>

/**
 * A form with its buttons. `onSubmit` gets the texts of the fields by their names, without spaces around them. While it
 * runs, the form cannot be sent again.
 */
export function ActionForm({
  submit,
  isDanger = false,
  onSubmit,
  onCancel,
  children,
}: {
  readonly submit: string
  readonly isDanger?: boolean
  readonly onSubmit: (values: FormValues) => Promise<void>
  readonly onCancel?: () => void
  readonly children?: ComponentChildren
}) {
  const form = useRef<HTMLFormElement>(null)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])

  const send = async () => {
    if (form.current === null || isBusy) return
    const values = valuesOf(form.current)
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(values)
    } catch (problem) {
      setError(problem instanceof Error ? problem : new Error(String(problem)))
    }
    setBusy(false)
  }
  const name = error instanceof ApiError ? fieldNamed(form.current, error.param) : undefined
  const named = error === undefined || name === undefined ? undefined : { name, message: messageOf(error) }
  return (
    <form
      class="form"
      ref={form}
      onSubmit={event => {
        event.preventDefault()
        void send()
      }}
    >
      <Refusal.Provider value={named}>{children}</Refusal.Provider>
      {error !== undefined && named === undefined && <Note tone="bad">{messageOf(error)}</Note>}
      <div class="dialog-actions">
        {onCancel !== undefined && (
          <button type="button" class="button" onClick={onCancel}>
            {partsTexts.cancel}
          </button>
        )}
        <button type="submit" class={isDanger ? 'button danger' : 'button primary'} disabled={isBusy}>
          {submit}
        </button>
      </div>
    </form>
  )
}

function valuesOf(form: HTMLFormElement): FormValues {
  const entries = [...new FormData(form)].map(([name, value]) => {
    const text = typeof value === 'string' ? value : ''
    // A password may begin or end with a space.
    return [name, form.querySelector(`[name="${name}"][type="password"]`) === null ? text.trim() : text]
  })
  return Object.fromEntries(entries) as FormValues
}

/** The field that an error is about. That of `models[2]` is `models`, which has one item a line. */
function fieldNamed(form: HTMLFormElement | null, param = ''): string | undefined {
  const names = [param, param.replace(/\[\d+\].*$/, '')]
  return names.find(name => name !== '' && form?.elements.namedItem(name) instanceof HTMLElement)
}

/** The message of an error, with the time to wait if there is one that the message does not have. */
export function messageOf(error: Error): string {
  const waitS = error instanceof ApiError ? error.retryAfterS : undefined
  if (waitS === undefined || error.message.includes('Try again in ')) return error.message
  return `${error.message} ${partsTexts.tryAgainIn(waitS)}`
}

type FieldProps = {
  readonly label: string
  readonly name: string
  readonly hint?: ComponentChildren
}

/** The ids and the refusal of one field, and the frame around it. */
function useField(name: string, hint: ComponentChildren) {
  const id = useId()
  const refusal = useContext(Refusal)
  const problem = refusal?.name === name ? refusal.message : undefined
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`]
  return {
    id,
    problem,
    attributes: {
      id,
      name,
      'aria-invalid': problem === undefined ? undefined : ('true' as const),
      'aria-describedby': described.join(' ').trim() || undefined,
    },
  }
}

function Frame({
  field: { id, problem },
  label,
  hint,
  isOptional,
  class: extra = '',
  children,
}: {
  readonly field: { readonly id: string; readonly problem: string | undefined }
  readonly label: string
  readonly hint: ComponentChildren
  readonly isOptional: boolean
  readonly class?: string
  readonly children: ComponentChildren
}) {
  return (
    <div class={`field ${extra}`.trim()}>
      <label for={id}>
        {label} {isOptional && <span class="soft">({partsTexts.optional})</span>}
      </label>
      {children}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`}>
          <Icon name="warning" />
          {problem}
        </p>
      )}
    </div>
  )
}

/** The attributes of an input that our fields use. Those of JSX are a union by role, which cannot be passed on. */
type NativeInput = {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local' | 'url' | 'search'
  readonly defaultValue?: string | undefined
  readonly value?: string
  readonly required?: boolean
  readonly disabled?: boolean
  readonly readOnly?: boolean
  readonly min?: string | number
  readonly max?: string | number
  readonly step?: string | number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly placeholder?: string
  readonly inputMode?: 'text' | 'decimal' | 'numeric' | 'email' | 'url'
  readonly autoComplete?: string
  readonly list?: string
  /** Whether the field takes the focus when it appears. */
  readonly hasFocus?: boolean
  readonly onInput?: (event: TargetedInputEvent<HTMLInputElement>) => void
  readonly onChange?: (event: TargetedEvent<HTMLInputElement>) => void
}

/** A line of text. Native attributes such as `required`, `type` and `pattern` are passed on. */
export function TextField({ label, name, hint, hasFocus = false, ...native }: FieldProps & NativeInput) {
  const field = useField(name, hint)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (hasFocus) input.current?.focus()
  }, [])
  return (
    <Frame field={field} label={label} hint={hint} isOptional={native.required !== true}>
      <input
        class="input"
        ref={input}
        {...(native as JSX.IntrinsicElements['input'])}
        {...field.attributes}
      />
    </Frame>
  )
}

/** An amount in US dollars, as exact decimal text. */
export function MoneyField(props: FieldProps & NativeInput) {
  return <TextField inputMode="decimal" pattern="\d+(\.\d{1,9})?" autoComplete="off" {...props} />
}

export function TextArea({
  label,
  name,
  hint,
  isCode = false,
  ...native
}: FieldProps & { readonly isCode?: boolean } & Omit<
    JSX.IntrinsicElements['textarea'],
    'name' | 'ref' | 'class'
  >) {
  const field = useField(name, hint)
  return (
    <Frame field={field} label={label} hint={hint} isOptional={native.required !== true}>
      <textarea
        class={isCode ? 'input code' : 'input'}
        spellcheck={!isCode}
        {...native}
        {...field.attributes}
      />
    </Frame>
  )
}

export type Choice<Value extends string> = {
  readonly value: Value
  readonly label: string
  readonly hint?: string
}

export function SelectField<Value extends string>({
  label,
  name,
  hint,
  choices,
  value,
  onChange,
}: FieldProps & {
  readonly choices: readonly Choice<Value>[]
  readonly value?: Value
  readonly onChange?: (value: Value) => void
}) {
  const field = useField(name, hint)
  return (
    <Frame field={field} label={label} hint={hint} isOptional={false}>
      <select
        class="input"
        {...field.attributes}
        onChange={event => onChange?.(event.currentTarget.value as Value)}
      >
        {choices.map(choice => (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Frame>
  )
}

/** One of a few choices, each with its explanation. */
export function RadioField<Value extends string>({
  label,
  name,
  choices,
  value,
  onChange,
}: FieldProps & {
  readonly choices: readonly Choice<Value>[]
  readonly value?: Value
  readonly onChange?: (value: Value) => void
}) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {choices.map(choice => (
        <label key={choice.value} class="choice">
          <input
            type="radio"
            name={name}
            value={choice.value}
            defaultChecked={choice.value === value}
            required
            onChange={() => onChange?.(choice.value)}
          />
          <span>
            {choice.label}
            {choice.hint !== undefined && <span class="soft">{choice.hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** Its value in the form is `on`, and an unchecked one is absent. */
export function CheckField({
  label,
  name,
  hint,
  isChecked = false,
  onChange,
}: FieldProps & { readonly isChecked?: boolean; readonly onChange?: (isChecked: boolean) => void }) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        name={name}
        defaultChecked={isChecked}
        onChange={event => onChange?.(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="soft">{hint}</span>}
      </span>
    </label>
  )
}
