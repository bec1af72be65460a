/** The edits of one row of the catalog: who made each, what it changed, and the way back to the row of that time. */
import { useState } from 'preact/hooks'
import { answer, api, ApiError } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import type { components } from '../api/schema.d.ts'
import { rowsTexts } from './texts.ts'
import { ActionButton } from './action-button.tsx'
import { Badge, Card, Instant, type BadgeTone } from './facts.tsx'
import { Loaded } from './notes.tsx'
import { FieldChanges, type Row } from './row-form.tsx'
import { Actor } from './subject.tsx'

export type RowEdit = components['schemas']['RowEdit']
type Kind = components['schemas']['Revision']['changes'][number]['kind']

const words = rowsTexts

const tones = {
  added: 'good',
  changed: 'accent',
  removed: 'bad',
  moved: 'plain',
} as const satisfies Record<RowEdit['change'], BadgeTone>

const EDITS_A_PAGE = 10

/** The edits of a row, newest first. A row that was never in the catalog has none. */
async function readEdits(kind: Kind, row: string, cursor?: string) {
  const query = { limit: EDITS_A_PAGE, ...(cursor !== undefined && { cursor }) }
  try {
    const params = { path: { kind, row }, query }
    return await answer(api.GET('/admin/api/catalog/history/{kind}/{row}', { params }))
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { data: [], next: null }
    throw error
  }
}

type Props = {
  readonly kind: Kind
  readonly id: string
  /** The row as it is now. Undefined if it was removed. */
  readonly current: Row | undefined
  /** Shows a preview of bringing a row back. Undefined for those who may not edit it. */
  readonly onBringBack: ((row: Row) => Promise<void>) | undefined
}

/** Give it the revision of the catalog as its key, so that it has a new edit. */
export function RowHistory({ kind, id, current, onBringBack }: Props) {
  const [older, setOlder] = useState<readonly RowEdit[]>([])
  const [next, setNext] = useState<string | null>()
  const first = useResource(`${kind} ${id}`, () => readEdits(kind, id))
  return (
    <Loaded of={first} lines={3}>
      {page => {
        const edits = [...page.data, ...older]
        // Keys are masked, so that rows of other times can look like the one of now.
        const latest = edits.find(({ row }) => isSame(row, current))
        const cursor = next === undefined ? page.next : next
        if (edits.length === 0) return null
        return (
          <Card title={words.history}>
            <div class="changes">
              {edits.map(edit => (
                <Edit
                  key={edit.revision}
                  of={edit}
                  id={id}
                  isCurrent={edit === latest}
                  onBringBack={isSame(edit.row, current) ? undefined : onBringBack}
                />
              ))}
            </div>
            {cursor !== null && (
              <p>
                <ActionButton
                  class="button small"
                  onPress={async () => {
                    const more = await readEdits(kind, id, cursor)
                    setOlder([...older, ...more.data])
                    setNext(more.next)
                  }}
                >
                  {words.olderEdits}
                </ActionButton>
              </p>
            )}
          </Card>
        )
      }}
    </Loaded>
  )
}

function isSame(row: Row | null, current: Row | undefined): boolean {
  return row !== null && JSON.stringify(row) === JSON.stringify(current)
}

function Edit({
  of: { revision, actor, at, change, fields, loses_key: losesKey, row },
  id,
  isCurrent,
  onBringBack,
}: Pick<Props, 'id' | 'onBringBack'> & { readonly of: RowEdit; readonly isCurrent: boolean }) {
  return (
    <article class="edit" aria-label={words.editOf(id, String(revision))}>
      <header>
        <Badge tone={tones[change]}>{words.kindsOfEdit[change]}</Badge>
        {losesKey && <Badge tone="warn">{words.losesKey}</Badge>}
        <Instant at={at} />
        <Actor name={actor} />
        <a href={`catalog/changes?from=${Math.max(1, revision - 1)}&to=${revision}`}>
          {words.revision(String(revision))}
        </a>
        {isCurrent ? (
          <Badge>{words.isCurrent}</Badge>
        ) : (
          row !== null &&
          onBringBack !== undefined && (
            <ActionButton
              class="button small"
              label={words.bringBackOf(String(revision))}
              onPress={() => onBringBack(row)}
            >
              {words.bringBack}
            </ActionButton>
          )
        )}
      </header>
      {fields.length > 0 && <FieldChanges of={fields} label={`${words.changes}: ${revision}`} />}
    </article>
  )
}
