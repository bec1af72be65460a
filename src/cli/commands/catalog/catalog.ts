import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileReason } from '../../../config/file-reason.ts'
import { adminPath, askOf, askText, LONG_TIMEOUT_MS, type Ask } from '../../ask.ts'
import type { Admin } from '../../connect.ts'
import { CliError, table, type Outcome } from '../../outcome.ts'
import { changeLines, type RowDifference } from './catalog-history.ts'

const CATALOG = 'catalog'
/** The conventional name of standard input and output. */
export const STANDARD = '-'

/** How a command changes the catalog. */
export type CatalogChange = {
  /** Shows the changes, and makes none. */
  readonly dryRun?: boolean
  /** Without it, a change that removes rows or stored keys is refused. */
  readonly yes?: boolean
}

/** The reply to a change of the catalog: of a dry run, or of a change that was made. */
type ChangeReply =
  | ChangesReply
  | {
      readonly dry_run?: undefined
      readonly revision: number
      readonly providers: readonly unknown[]
      readonly models: readonly unknown[]
      readonly missing_variables: readonly string[]
      readonly warnings: readonly string[]
    }

/**
 * Replaces the catalog with a file, and names missing environment variables. `url` is the address of the running
 * server; undefined if this command opened the data folder. Throws a `CliError` if the file cannot be read or is
 * refused.
 */
export async function importCatalog(
  ask: Ask,
  { file, url, ...change }: CatalogChange & { readonly file: string; readonly url: string | undefined },
): Promise<Outcome> {
  const yaml = readInput(file)
  return changed(
    await ask<ChangeReply>({
      method: 'PUT',
      path: CATALOG + queryOf(change),
      yaml,
      timeoutMs: LONG_TIMEOUT_MS,
    }),
    url,
  )
}

/** Makes the catalog of an earlier revision the current one. */
export async function rollBackCatalog(
  ask: Ask,
  {
    revision,
    url,
    ...change
  }: CatalogChange & { readonly revision: string; readonly url: string | undefined },
): Promise<Outcome> {
  const path = `${CATALOG}/rollback${queryOf(change)}`
  return changed(await ask<ChangeReply>({ method: 'POST', path, json: { revision: Number(revision) } }), url)
}

function queryOf({ dryRun = false, yes = false }: CatalogChange): string {
  return dryRun ? '?dry_run=true' : `?allow_removals=${yes}`
}

function changed(reply: ChangeReply, url: string | undefined): Outcome {
  const { revision, missing_variables: missing, warnings } = reply
  const notes = [...(missing.length === 0 ? [] : [missingNote(missing, url)]), ...warnings]
  const note = notes.length === 0 ? {} : { note: notes.join('\n') }
  if (reply.dry_run) return { value: reply, text: changesText(reply), ...note }
  const { providers, models } = reply
  return {
    value: {
      revision,
      providers: providers.length,
      models: models.length,
      missing_variables: missing,
      warnings,
    },
    text: `The catalog is now at revision ${revision} (providers: ${providers.length}, models: ${models.length}).`,
    ...note,
  }
}

function missingNote(missing: readonly string[], url: string | undefined): string {
  const names = missing.join(', ')
  return url === undefined
    ? `The catalog names environment variables that are not set here: ${names}. Set them for "tollgate serve".`
    : `The catalog names environment variables that the server at ${url} does not have: ${names}. Restart it with them.`
}

/** Writes the catalog as YAML to `file` or to standard output. With `--json` and no file, it writes JSON. */
export async function exportCatalog(
  admin: Admin,
  { file, isJson }: { readonly file: string; readonly isJson: boolean },
): Promise<Outcome> {
  if (file === STANDARD && isJson) {
    return { value: await askOf(admin)({ method: 'GET', path: CATALOG }), text: '' }
  }
  const yaml = await askText(admin, {
    method: 'GET',
    path: CATALOG,
    headers: { accept: 'application/yaml' },
  })
  if (file === STANDARD) return { value: yaml, text: yaml.trimEnd() }
  writeOutput(file, yaml)
  return { value: { file }, text: `Wrote ${file}.` }
}

type ModelRow = {
  readonly id: string
  readonly kind: string
  readonly enabled: boolean
  readonly upstreams: readonly { readonly provider: string }[]
  /** Absent for a row without a price. */
  readonly pricing?: string | Readonly<Record<string, unknown>>
  readonly markup?: string
}

/** Lists all models with their prices, including those that are off, unfinished or cannot be called. */
export async function listModels(ask: Ask): Promise<Outcome> {
  const listed = await ask<{
    readonly data: readonly ModelRow[]
    readonly uncallable: readonly { readonly id: string; readonly reason: string }[]
  }>({ method: 'GET', path: 'models' })
  const reasons = new Map(listed.uncallable.map(({ id, reason }) => [id, reason]))
  const rows = listed.data.map(model => [
    model.id,
    model.kind,
    (model.enabled ? 'on' : 'off') + (reasons.has(model.id) ? ', see below' : ''),
    priceText(model),
    model.upstreams.map(({ provider }) => provider).join(', '),
  ])
  if (rows.length === 0) return { value: listed, text: 'No models.' }
  const lines = listed.uncallable.map(({ id, reason }) => `${id}: ${reason}`)
  const head = ['MODEL', 'KIND', 'STATE', 'PRICES IN USD', 'PROVIDERS']
  return {
    value: listed,
    text: [table(head, rows), ...(lines.length === 0 ? [] : ['', ...lines])].join('\n'),
  }
}

/** The prices of a row under their names in the catalog. Tiers are named only, because they have many prices. */
export function priceText({ pricing, markup }: Pick<ModelRow, 'pricing' | 'markup'>): string {
  if (pricing === undefined) return '–'
  if (pricing === 'upstream_cost') return `the cost of the provider × ${markup ?? '1'}`
  if (typeof pricing === 'string') return pricing
  return Object.entries(pricing)
    .map(([name, price]) => (typeof price === 'string' ? `${name} ${price}` : `with ${name}`))
    .join(', ')
}

/** Switches a model on or off. Repeating it changes nothing. */
export async function switchModel(
  ask: Ask,
  { id, enabled }: { readonly id: string; readonly enabled: boolean },
): Promise<Outcome> {
  const model = await ask<ModelRow>({ method: 'PATCH', path: adminPath('models', id), json: { enabled } })
  return { value: model, text: `${model.id} is ${model.enabled ? 'on' : 'off'}.` }
}

/** The text of a file, or of standard input. Throws a `CliError` if it cannot be read. */
export function readInput(file: string): string {
  try {
    return readFileSync(file === STANDARD ? 0 : file, 'utf8')
  } catch (error) {
    throw new CliError(`${nameOf(file)} cannot be read: ${fileReason(error)}.`, {
      exitCode: 2,
      code: 'unreadable_file',
    })
  }
}

function writeOutput(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new CliError(`${nameOf(file)} cannot be written: ${fileReason(error)}.`, {
      exitCode: 2,
      code: 'unwritable_file',
    })
  }
}

/** A file at the start of a message. */
export function nameOf(file: string): string {
  return file === STANDARD ? 'Standard input' : `The file ${resolve(file)}`
}

/** The reply of a dry run: what a catalog would change. */
type ChangesReply = {
  readonly dry_run: true
  readonly revision: number
  readonly changes: readonly RowDifference[]
  readonly is_reordered: boolean
  readonly removals: readonly string[]
  readonly missing_variables: readonly string[]
  readonly warnings: readonly string[]
}

/** The changes as lines, as in a diff: `+` added, `~` changed with its fields, `-` removed. */
function changesText({ revision, changes, is_reordered, removals }: ChangesReply): string {
  if (changes.length === 0) {
    return is_reordered
      ? 'Only the order of the rows would change.'
      : `Nothing would change. The catalog stays at revision ${revision}.`
  }
  const lines = changes.flatMap(changeLines)
  const count = (wanted: string) => changes.filter(({ change }) => change === wanted).length
  const summary = `${count('added')} added, ${count('changed')} changed, ${count('removed')} removed. Nothing was changed yet.`
  return [
    ...lines,
    '',
    removals.length === 0 ? summary : `${summary} Removing rows or stored keys needs --yes.`,
  ].join('\n')
}
