import { rowWords, type RowKind } from '../../../domain/catalog/catalog-changes.ts'
import { adminPath, withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'

type PageOptions = { readonly limit: string; readonly cursor?: string }

/** Prints one page of the revisions of the catalog, newest first. */
export async function catalogHistory(ask: Ask, { limit, cursor }: PageOptions): Promise<Outcome> {
  type Revision = {
    readonly revision: number
    readonly at: string
    readonly actor: string
    readonly action: string
    readonly subject: string
    readonly changes: readonly ChangedRow[]
    readonly change_count: number
  }
  const page = await ask<{ readonly data: readonly Revision[]; readonly next: string | null }>({
    method: 'GET',
    path: withQuery('catalog/history', { limit, cursor }),
  })
  const rows = page.data.map(({ revision, at, actor, action, subject, changes, change_count: count }) => [
    String(revision),
    at,
    actor,
    action,
    subject,
    changedNames(changes, count),
  ])
  const head = ['REVISION', 'AT', 'ACTOR', 'ACTION', 'SUBJECT', 'CHANGES']
  return {
    value: page,
    text: rows.length === 0 ? 'No revisions.' : table(head, rows),
    ...(page.next === null ? {} : { note: `Older revisions: --cursor ${page.next}` }),
  }
}

type ChangedRow = {
  readonly kind: RowKind
  readonly id: string
  readonly change: 'added' | 'changed' | 'removed'
}

/** How many rows a line of the history names. With --json, it has up to 100. */
const NAMES_SHOWN_MAX = 5

/** `+ model a, ~ provider b and 3 more` */
function changedNames(changes: readonly ChangedRow[], count: number): string {
  const names = changes
    .slice(0, NAMES_SHOWN_MAX)
    .map(({ kind, id, change }) => `${sign[change]} ${rowWords[kind]} ${id}`)
  const others = count > names.length ? ` and ${count - names.length} more` : ''
  return names.length === 0 ? 'only the order' : names.join(', ') + others
}

type FieldDifference = { readonly field: string; readonly before: unknown; readonly after: unknown }

/** A row that differs between two catalogs. */
export type RowDifference = ChangedRow & {
  readonly fields: readonly FieldDifference[]
  readonly loses_key: boolean
}

const sign = { added: '+', changed: '~', removed: '-', moved: '~' } as const

/** The lines of a row, as in a diff: `+` added, `~` changed with its fields, `-` removed. */
export function changeLines({
  kind,
  id,
  change,
  fields,
  loses_key: losesKey,
}: RowDifference): readonly string[] {
  const key = losesKey ? ' (loses its stored key)' : ''
  return [`${sign[change]} ${rowWords[kind]} ${id}${key}`, ...fields.map(fieldLine)]
}

function fieldLine({ field, before, after }: FieldDifference): string {
  return `    ${field}: ${shown(before)} → ${shown(after)}`
}

function shown(value: unknown): string {
  return value === null ? 'none' : JSON.stringify(value)
}

/** Compares two revisions of the catalog. Without `to`, it compares with the current one. */
export async function catalogChanges(
  ask: Ask,
  { from, to }: { readonly from: string; readonly to: string | undefined },
): Promise<Outcome> {
  const compared = await ask<{
    readonly from: number
    readonly to: number
    readonly changes: readonly RowDifference[]
    readonly is_reordered: boolean
  }>({ method: 'GET', path: withQuery('catalog/changes', { from, to }) })
  const { changes, is_reordered: isReordered } = compared
  const same = isReordered ? 'Only the order of the rows differs.' : 'The revisions have the same rows.'
  return { value: compared, text: changes.length === 0 ? same : changes.flatMap(changeLines).join('\n') }
}

/** Prints one page of the edits of one row, newest first, with the fields that each changed. */
export async function rowHistory(
  ask: Ask,
  { kind, id, limit, cursor }: PageOptions & { readonly kind: RowKind; readonly id: string },
): Promise<Outcome> {
  type Edit = Pick<RowDifference, 'fields' | 'loses_key'> & {
    readonly revision: number
    readonly at: string
    readonly actor: string
    readonly change: RowDifference['change'] | 'moved'
  }
  const page = await ask<{ readonly data: readonly Edit[]; readonly next: string | null }>({
    method: 'GET',
    path: withQuery(adminPath('catalog', 'history', kind, id), { limit, cursor }),
  })
  const lines = page.data.flatMap(({ revision, at, actor, change, fields, loses_key: losesKey }) => [
    `${sign[change]} ${change} in revision ${revision}, ${at}, by ${actor}${losesKey ? ' (lost its stored key)' : ''}`,
    ...fields.map(fieldLine),
  ])
  return {
    value: page,
    text: lines.length === 0 ? 'No edits.' : lines.join('\n'),
    ...(page.next === null ? {} : { note: `Older edits: --cursor ${page.next}` }),
  }
}
