import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileReason } from '../../config/file-reason.ts'
import { adminPath, askOf, askText, type Ask } from '../ask.ts'
import type { Admin } from '../connect.ts'
import { CliError, table, type Outcome } from '../outcome.ts'

const CATALOG = 'catalog'
/** The conventional name of standard input and output. */
const STANDARD = '-'

/**
 * Replaces the catalog with a file, and names missing environment variables. `url` is the address of the running server; undefined if
 * this command opened the data folder. Throws a `CliError` if the file cannot be read or is refused.
 */
export async function importCatalog(ask: Ask, file: string, url: string | undefined): Promise<Outcome> {
  const yaml = readInput(file)
  const imported = await ask<{
    readonly revision: number
    readonly providers: readonly unknown[]
    readonly models: readonly unknown[]
    readonly missing_variables: readonly string[]
  }>({ method: 'PUT', path: CATALOG, yaml })
  const { revision, providers, models, missing_variables: missing } = imported
  return {
    value: {
      revision,
      providers: providers.length,
      models: models.length,
      missing_variables: missing,
    },
    text: `The catalog is now at revision ${revision} (providers: ${providers.length}, models: ${models.length}).`,
    ...(missing.length === 0 ? {} : { note: missingNote(missing, url) }),
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
}

/** Lists all models, including those that are off or unfinished. */
export async function listModels(ask: Ask): Promise<Outcome> {
  const { data } = await ask<{ readonly data: readonly ModelRow[] }>({ method: 'GET', path: 'models' })
  const rows = data.map(({ id, kind, enabled, upstreams }) => [
    id,
    kind,
    enabled ? 'on' : 'off',
    upstreams.map(({ provider }) => provider).join(', '),
  ])
  return {
    value: { data },
    text: data.length === 0 ? 'No models.' : table(['MODEL', 'KIND', 'STATE', 'PROVIDERS'], rows),
  }
}

/** Switches a model on or off. Repeating it changes nothing. */
export async function switchModel(
  ask: Ask,
  { id, enabled }: { readonly id: string; readonly enabled: boolean },
): Promise<Outcome> {
  const model = await ask<ModelRow>({ method: 'PATCH', path: adminPath('models', id), json: { enabled } })
  return { value: model, text: `${model.id} is ${model.enabled ? 'on' : 'off'}.` }
}

function readInput(file: string): string {
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

function nameOf(file: string): string {
  return file === STANDARD ? 'Standard input' : `The file ${resolve(file)}`
}
