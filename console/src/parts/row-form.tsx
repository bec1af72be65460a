/** What the forms of catalog rows share: fields named by their path in the row, the row as JSON, and what changes. */
import { useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'
import { rowsTexts } from './texts.ts'
import { ActionForm, TextArea, type FormValues } from './form.tsx'
import { Table, type Column } from './table.tsx'

/** A row of the catalog as JSON. Its fields depend on its kind. */
export type Row = { readonly [field: string]: unknown }

const words = rowsTexts

/** These fields are numbers in a row. All others in forms are texts. */
const numbers = new Set(['max_output_tokens', 'context_window', 'hold_duration_seconds', 'order', 'weight'])

/**
 * The row with the values of a form, whose fields are named like the `param` of errors: `pricing.input_per_mtok`, or
 * `upstreams[0].model`. An empty value removes the field. What the form does not have stays.
 */
export function editedRow(base: Row, values: FormValues): Row {
  const row = structuredClone(base) as Record<string, unknown>
  for (const [path, text] of Object.entries(values)) put(row, path.split(/[.[\]]+/).filter(Boolean), text)
  return row
}

function put(at: Record<string, unknown>, [name, ...rest]: readonly string[], text: string): void {
  if (name === undefined) return
  if (rest.length > 0) {
    const inside = at[name]
    const next = isMembers(inside) ? inside : /^\d+$/.test(rest[0] ?? '') ? [] : {}
    put(next as Record<string, unknown>, rest, text)
    if (Object.keys(next).length > 0) at[name] = next
    else delete at[name]
  } else if (text === '') delete at[name]
  else at[name] = numbers.has(name) ? Number(text) : text
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** The text of a field, for the default of an input. */
export function fieldOf(row: Row, path: string): string {
  let value: unknown = row
  for (const name of path.split(/[.[\]]+/).filter(Boolean)) value = isMembers(value) ? value[name] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The whole row as JSON, for fields that the form does not have. */
export function RowJson({
  row,
  submit,
  onSubmit,
}: {
  readonly row: Row
  readonly submit: string
  readonly onSubmit: (row: Row) => Promise<void>
}) {
  return (
    <ActionForm
      submit={submit}
      onSubmit={async values => {
        try {
          await onSubmit(parsedRow(values['row'] ?? ''))
        } catch (error) {
          // The field that the error names is inside the text.
          throw error instanceof ApiError
            ? new ApiError(error.status, error.message, { param: 'row' })
            : error
        }
      }}
    >
      <TextArea
        label={words.json}
        name="row"
        hint={words.jsonHint}
        defaultValue={JSON.stringify(row, null, 2)}
        isCode
        required
      />
    </ActionForm>
  )
}

/** Throws an error at the field if the text is not a JSON object. */
export function parsedRow(text: string, field = 'row'): Row {
  try {
    const value: unknown = JSON.parse(text)
    if (isMembers(value) && !Array.isArray(value)) return value
  } catch {
    // The browser's own words for it are not plain.
  }
  throw new ApiError(400, words.notJson, { param: field })
}

export type FieldChange = { readonly field: string; readonly before?: unknown; readonly after?: unknown }

const changeColumns: readonly Column<FieldChange>[] = [
  { label: words.field, show: ({ field }) => <code>{field}</code> },
  { label: words.before, mayWrap: true, show: ({ before }) => <span class="was">{valueText(before)}</span> },
  { label: words.after, mayWrap: true, show: ({ after }) => <span class="is">{valueText(after)}</span> },
]

/** The fields that differ, with their values before and after. */
export function FieldChanges({ of: fields, label }: { of: readonly FieldChange[]; label: string }) {
  return <Table label={label} rows={fields} columns={changeColumns} keyOf={({ field }) => field} />
}

export function valueText(value: unknown): string {
  if (value === undefined || value === null) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The form and the JSON of a row, one of which is shown. */
export function useRowView(): readonly ['form' | 'json', (view: 'form' | 'json') => void] {
  const [view, setView] = useState<'form' | 'json'>('form')
  return [view, setView]
}

/** Two buttons, of which one is pressed. */
export function RowViewSwitch({
  view,
  onChange,
}: {
  readonly view: 'form' | 'json'
  readonly onChange: (view: 'form' | 'json') => void
}) {
  return (
    <div class="switch" role="group" aria-label={words.view}>
      {(['form', 'json'] as const).map(name => (
        <button key={name} type="button" aria-pressed={view === name} onClick={() => onChange(name)}>
          {words.views[name]}
        </button>
      ))}
    </div>
  )
}
