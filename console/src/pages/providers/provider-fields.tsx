/** The form of a provider: its address and its key. All other fields of the row are in its JSON. */
import { useState } from 'preact/hooks'
import { RadioField, TextField, type Choice, type FormValues } from '../../parts/form.tsx'
import { Note } from '../../parts/notes.tsx'
import { editedRow, fieldOf, type Row } from '../../parts/row-form.tsx'
import { providersTexts } from './texts.ts'

const words = providersTexts
const STORED = '<stored>'
const ENVIRONMENT = 'env:'

type KeyFrom = 'keep' | 'new' | 'variable' | 'none'

/** Where the key of a row is. */
export function keyOf(row: Row): Exclude<KeyFrom, 'new'> {
  const key = fieldOf(row, 'api_key')
  if (key === '') return 'none'
  return key.startsWith(ENVIRONMENT) ? 'variable' : 'keep'
}

/** `hasAddress` is false for a kind whose address the gateway knows. */
export function ProviderFields({
  row,
  hasAddress,
  variable = '',
}: {
  readonly row: Row
  readonly hasAddress: boolean
  /** A name for the variable of the key. */
  readonly variable?: string
}) {
  const stored = keyOf(row)
  const [from, choose] = useState<KeyFrom>(stored === 'none' && variable !== '' ? 'new' : stored)
  const [isElsewhere, setElsewhere] = useState(false)
  const isKept = from === 'keep' && !isElsewhere
  const choices: readonly Choice<KeyFrom>[] = [
    ...(stored === 'keep' && !isElsewhere
      ? [{ value: 'keep' as const, label: words.keep, hint: words.keepHint }]
      : []),
    { value: 'new', label: stored === 'none' ? words.ownKey : words.newKey, hint: words.newKeyHint },
    { value: 'variable', label: words.variable, hint: words.variableHint },
    { value: 'none', label: words.noKey },
  ]
  return (
    <>
      {hasAddress && (
        <TextField
          label={words.baseUrl}
          name="base_url"
          type="url"
          hint={words.baseUrlHint}
          defaultValue={fieldOf(row, 'base_url')}
          required
          onInput={event => {
            const isMoved =
              stored === 'keep' && originOf(event.currentTarget.value) !== originOf(fieldOf(row, 'base_url'))
            setElsewhere(isMoved)
            if (isMoved && from === 'keep') choose('new')
          }}
        />
      )}
      {isElsewhere && <Note tone="warn">{words.moved}</Note>}
      <RadioField
        key={String(isElsewhere)}
        label={words.key}
        name="key_from"
        choices={choices}
        value={isKept ? 'keep' : from}
        onChange={choose}
      />
      <KeyField row={row} from={from} variable={variable} />
    </>
  )
}

/** The key itself, or the name of the variable that has it. */
function KeyField({
  row,
  from,
  variable,
}: {
  readonly row: Row
  readonly from: KeyFrom
  readonly variable: string
}) {
  const stored = keyOf(row)
  return (
    <>
      {from === 'new' && (
        <TextField
          label={stored === 'none' ? words.ownKey : words.newKey}
          name="api_key"
          type="password"
          autoComplete="off"
          hint={words.keyShown}
          required
        />
      )}
      {from === 'variable' && (
        <TextField
          label={words.variableName}
          name="api_key"
          autoComplete="off"
          pattern="[A-Za-z_][A-Za-z0-9_]*(,(env:)?[A-Za-z_][A-Za-z0-9_]*)?"
          defaultValue={stored === 'variable' ? fieldOf(row, 'api_key').slice(ENVIRONMENT.length) : variable}
          hint={words.variableNameHint}
          required
        />
      )}
    </>
  )
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url
}

/** The row that the form makes of a row. */
export function rowOfForm(base: Row, { key_from: from, api_key: key = '', ...fields }: FormValues): Row {
  const { api_key: before, ...row } = editedRow(base, fields)
  switch (from as KeyFrom) {
    case 'keep':
      return { ...row, api_key: STORED }
    case 'new':
      return { ...row, api_key: key.trim() }
    case 'variable':
      return { ...row, api_key: key.startsWith(ENVIRONMENT) ? key : `${ENVIRONMENT}${key}` }
    case 'none':
      return row
    default:
      return { ...row, ...(before !== undefined && { api_key: before }) }
  }
}
