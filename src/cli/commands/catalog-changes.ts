/** The reply of a dry run: what a catalog would change. */
export type ChangesReply = {
  readonly dry_run: true
  readonly revision: number
  readonly changes: readonly {
    readonly kind: 'provider' | 'model'
    readonly id: string
    readonly change: 'added' | 'changed' | 'removed'
    readonly fields: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[]
    readonly loses_key: boolean
  }[]
  readonly is_reordered: boolean
  readonly removals: readonly string[]
  readonly missing_variables: readonly string[]
  readonly warnings: readonly string[]
}

const sign = { added: '+', changed: '~', removed: '-' } as const

/** The changes as lines, as in a diff: `+` added, `~` changed with its fields, `-` removed. */
export function changesText({ revision, changes, is_reordered, removals }: ChangesReply): string {
  if (changes.length === 0) {
    return is_reordered
      ? 'Only the order of the rows would change.'
      : `Nothing would change. The catalog stays at revision ${revision}.`
  }
  const lines = changes.flatMap(({ kind, id, change, fields, loses_key: losesKey }) => [
    `${sign[change]} ${kind} ${id}${losesKey ? ' (loses its stored key)' : ''}`,
    ...fields.map(({ field, before, after }) => `    ${field}: ${shown(before)} → ${shown(after)}`),
  ])
  const count = (wanted: string) => changes.filter(({ change }) => change === wanted).length
  const summary = `${count('added')} added, ${count('changed')} changed, ${count('removed')} removed. Nothing was changed yet.`
  return [
    ...lines,
    '',
    removals.length === 0 ? summary : `${summary} Removing rows or stored keys needs --yes.`,
  ].join('\n')
}

function shown(value: unknown): string {
  return value === null ? 'none' : JSON.stringify(value)
}
