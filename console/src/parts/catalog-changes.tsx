/** The rows of the catalog that an import, a rollback or a comparison changes. */
import { rowsTexts } from './texts.ts'
import type { components } from '../api/schema.d.ts'
import { Badge, type BadgeTone } from './facts.tsx'
import { Note } from './notes.tsx'
import { FieldChanges } from './row-form.tsx'

export type CatalogChanges = components['schemas']['CatalogChanges']
type RowChange = CatalogChanges['changes'][number]

const words = rowsTexts

const tones = { added: 'good', changed: 'accent', removed: 'bad' } as const satisfies Record<
  RowChange['change'],
  BadgeTone
>

export function ChangedRows({
  of: changes,
  isReordered,
}: {
  readonly of: readonly RowChange[]
  readonly isReordered: boolean
}) {
  if (changes.length === 0) return <p>{isReordered ? words.onlyOrder : words.nothingChanges}</p>
  return (
    <div class="changes">
      {changes.map(change => (
        <ChangedRow key={`${change.kind} ${change.id}`} of={change} />
      ))}
    </div>
  )
}

function ChangedRow({ of: { kind, id, change, fields, loses_key: losesKey } }: { readonly of: RowChange }) {
  const title = (
    <>
      <Badge tone={tones[change]}>{words.kindsOfChange[change]}</Badge>
      <span class="soft">{words.kinds[kind]}</span>
      <strong>{id}</strong>
      {losesKey && <Badge tone="warn">{words.losesKey}</Badge>}
    </>
  )
  if (fields.length === 0) return <div class="row">{title}</div>
  return (
    <details open>
      <summary>{title}</summary>
      <FieldChanges of={fields} label={`${words.changes}: ${id}`} />
    </details>
  )
}

/** What a dry run of the whole catalog says besides the changes. */
export function Remarks({
  of: { removals, missing_variables: missing, warnings },
}: {
  readonly of: CatalogChanges
}) {
  return (
    <>
      {removals.length > 0 && (
        <Note tone="bad">
          <strong>{words.removes}</strong>
          {removals.map(text => (
            <span key={text}>{text}</span>
          ))}
        </Note>
      )}
      {missing.length > 0 && <Note tone="warn">{words.missing(missing.join(', '))}</Note>}
      {warnings.map(text => (
        <Note key={text} tone="warn">
          {text}
        </Note>
      ))}
    </>
  )
}
