import { ACCOUNT_PRICE_LIST, ACCOUNT_RENAME, type SwitchAction } from '../../../../domain/accounts/account.ts'
import { KEY_RENAME, type KeySwitchAction } from '../../../../domain/accounts/api-key.ts'
import {
  decodeKeySettings,
  patchKeySettings,
  writeKeySettings,
  type KeySettings,
} from '../../../../domain/accounts/key-settings.ts'
import { NO_KEY_DEFAULTS, writeKeyDefaults } from '../../../../domain/accounts/key-defaults.ts'
import { projectNameIn, projectNaming, type ProjectSwitch } from '../../../../domain/accounts/project.ts'
import { findingOf, type Finding } from '../findings.ts'

/** The switches that an audit line turns on or off. The columns have the time of the line, or null. */
const switches: Readonly<Record<string, Switched>> = {
  'account.suspend': { column: 'suspended_at_ms', isSet: true },
  'account.resume': { column: 'suspended_at_ms', isSet: false },
  'account.replays_off': { column: 'replays_off_at_ms', isSet: true },
  'account.replays_on': { column: 'replays_off_at_ms', isSet: false },
  'account.close': { column: 'closed_at_ms', isSet: true },
  'key.revoke': { column: 'revoked_at_ms', isSet: true },
  'key.disable': { column: 'disabled_at_ms', isSet: true },
  'key.enable': { column: 'disabled_at_ms', isSet: false },
  'token.revoke': { column: 'revoked_at_ms', isSet: true },
  'project.close': { column: 'closed_at_ms', isSet: true },
} satisfies Record<SwitchAction | KeySwitchAction | ProjectSwitch | 'token.revoke', Switched>

/** The ending of the actions that change the defaults of new keys. The details are the defaults after the change. */
const KEY_DEFAULTS_ACTION = '.key_defaults'

/** The detail of a line that removes all defaults. Their row is removed too. */
const NO_DEFAULTS = writeKeyDefaults(NO_KEY_DEFAULTS)

/** The lines that name their subject. */
const namings: ReadonlySet<string> = new Set([...projectNaming, ACCOUNT_RENAME, KEY_RENAME])

/** The lines whose detail changes the settings of a key. */
const settingsActions: ReadonlySet<string> = new Set(['key.create', 'key.update'])

type SwitchColumn =
  | 'suspended_at_ms'
  | 'replays_off_at_ms'
  | 'revoked_at_ms'
  | 'disabled_at_ms'
  | 'closed_at_ms'
type Switched = { readonly column: SwitchColumn; readonly isSet: boolean }

export type SwitchLine = { id: bigint; action: string; subject: string; at_ms: bigint; detail: string | null }
export type SwitchedAccount = {
  id: bigint
  public_id: string
  suspended_at_ms: bigint | null
  replays_off_at_ms: bigint | null
  /** The defaults of its new keys. */
  key_defaults: string | null
  closed_at_ms: bigint | null
  name: string
  first_name: string | null
  price_list: string | null
}
export type SwitchedKey = {
  id: bigint
  account_id: bigint
  public_id: string
  revoked_at_ms: bigint | null
  disabled_at_ms: bigint | null
  settings: string | null
  name: string
  first_name: string | null
}
export type SwitchedProject = {
  id: bigint
  account_id: bigint
  public_id: string
  name: string
  closed_at_ms: bigint | null
}

export type SwitchedToken = { id: bigint; public_id: string; name: string; revoked_at_ms: bigint | null }

/**
 * The latest switch of each account, key, project and admin token, from the audit log, the names of projects, and the
 * settings of keys. An account must be suspended, and have its replays off, since the latest line that says so, a key
 * must be revoked or disabled and a project closed since its line, and a project must have the name of its latest line.
 * The settings of a key are the sum of the changes in its lines. The steps write the column and the line together, and
 * commit hashes cover the lines.
 */
export class SwitchLines {
  /** The time of the line that switched a column on; null if the latest one switched it off. */
  readonly #latest = new Map<string, bigint | null>()
  readonly #names = new Map<string, string | undefined>()
  readonly #keyDefaults = new Map<string, string | null>()
  readonly #settings = new Map<string, KeySettings | undefined>()
  readonly #priceLists = new Map<string, string | null>()

  /** Adds a line, in the order of the log. */
  add({ action, subject, at_ms, detail }: SwitchLine): void {
    if (namings.has(action)) this.#names.set(subject, projectNameIn(detail))
    if (action.endsWith(KEY_DEFAULTS_ACTION)) this.#keyDefaults.set(subject, detail)
    if (detail !== null && settingsActions.has(action)) this.#patchSettings(subject, detail)
    if (action === ACCOUNT_PRICE_LIST) this.#priceLists.set(subject, priceListIn(detail))
    const switched = switches[action]
    if (switched === undefined) return
    this.#latest.set(`${switched.column} ${subject}`, switched.isSet ? at_ms : null)
  }

  /** When a column of an account, a key or a project was set; null if it is not set. */
  at(publicId: string, column: SwitchColumn): bigint | null {
    return this.#latest.get(`${column} ${publicId}`) ?? null
  }

  /** The defaults of the new keys of an account or of the gateway, as JSON; null for none. */
  keyDefaults(subject: string): string | null {
    const terms = this.#keyDefaults.get(subject) ?? null
    return terms === NO_DEFAULTS ? null : terms
  }

  /** The id of the price list of an account; null for none. */
  priceList(publicId: string): string | null {
    return this.#priceLists.get(publicId) ?? null
  }

  /** The current name of a project, or of an account or key that was renamed. */
  name(publicId: string): string | undefined {
    return this.#names.get(publicId)
  }

  /** The settings of a key, as the store writes them; null for a key that nothing restricts. */
  settingsOf(publicId: string): string | null {
    return writeKeySettings(this.#settings.get(publicId))
  }

  #patchSettings(publicId: string, detail: string): void {
    const patch = decodeKeySettings(parsed(detail))
    // A detail that was edited has a finding of its own.
    if (patch.ok) this.#settings.set(publicId, patchKeySettings(this.#settings.get(publicId), patch.value))
  }
}

/** `lines` has all lines that were written before the defaults of the gateway were read. */
export function findingsOfKeyDefaults(terms: string | null, lines: SwitchLines): readonly Finding[] {
  if (lines.keyDefaults('gateway') === terms) return []
  const message = ['The defaults of new keys are not those that the audit log says.']
  return [{ accountId: null, entryId: null, message }]
}

/** `lines` has all lines that were written before the project was read. */
export function findingsOfProject(
  { account_id: accountId, public_id: project, name, closed_at_ms: closed }: SwitchedProject,
  lines: SwitchLines,
): readonly Finding[] {
  const problems = [
    ...(lines.name(project) === name ? [] : ['has another name than its latest line of the audit log']),
    ...(lines.at(project, 'closed_at_ms') === closed
      ? []
      : [`is ${closed === null ? 'open' : 'closed'}, but the audit log says otherwise`]),
  ]
  return problems.map(problem => findingOf(accountId, `project ${project} ${problem}`))
}

/** `lines` has all lines that were written before the account was read. */
export function findingsOfAccount(row: SwitchedAccount, lines: SwitchLines): readonly Finding[] {
  const problem = problemOfAccount(row, lines)
  return problem === undefined ? [] : [findingOf(row.id, `${problem}, but the audit log says otherwise`)]
}

/** `lines` has all lines that were written before the key was read. */
export function findingsOfApiKey(row: SwitchedKey, lines: SwitchLines): readonly Finding[] {
  const problem = problemOfApiKey(row, lines)
  if (problem === undefined) return []
  const message = `API key ${row.public_id} ${problem}, but the audit log says otherwise`
  return [findingOf(row.account_id, message)]
}

function problemOfApiKey(
  { public_id: id, revoked_at_ms: revoked, disabled_at_ms: disabled, settings, ...names }: SwitchedKey,
  lines: SwitchLines,
): string | undefined {
  if (!isNamed(names, lines.name(id))) return 'was renamed'
  if (lines.at(id, 'revoked_at_ms') !== revoked) return revoked === null ? 'is not revoked' : 'is revoked'
  if (lines.at(id, 'disabled_at_ms') !== disabled) return disabled === null ? 'is enabled' : 'is disabled'
  if (lines.settingsOf(id) === settings) return undefined
  return settings === null ? 'is not restricted' : `is restricted to ${settings}`
}

/** The name of an account or key must be that of its latest rename. Without one, there is no first name beside it. */
function isNamed(
  { name, first_name: firstName }: { readonly name: string; readonly first_name: string | null },
  renamed: string | undefined,
): boolean {
  return renamed === undefined ? firstName === null : renamed === name
}

function parsed(detail: string): unknown {
  try {
    return JSON.parse(detail)
  } catch {
    return undefined
  }
}

/** `lines` has all lines that were written before the token was read. */
export function findingsOfToken(
  { public_id: id, name, revoked_at_ms: revoked }: SwitchedToken,
  lines: SwitchLines,
): readonly Finding[] {
  if (lines.at(id, 'revoked_at_ms') === revoked) return []
  const state = revoked === null ? 'is not revoked' : 'is revoked'
  const message = [`Admin token "${name}" (${id}) ${state}, but the audit log says otherwise.`]
  return [{ accountId: null, entryId: null, message }]
}

function problemOfAccount(
  {
    public_id: id,
    suspended_at_ms: suspended,
    replays_off_at_ms: replaysOff,
    key_defaults: keyDefaults,
    closed_at_ms: closed,
    price_list: priceList,
    ...names
  }: SwitchedAccount,
  lines: SwitchLines,
): string | undefined {
  if (!isNamed(names, lines.name(id))) return 'it was renamed'
  if (lines.at(id, 'closed_at_ms') !== closed) return closed === null ? 'it is open' : 'it is closed'
  if (lines.at(id, 'suspended_at_ms') !== suspended)
    return suspended === null ? 'it is not suspended' : 'it is suspended'
  if (lines.at(id, 'replays_off_at_ms') !== replaysOff)
    return replaysOff === null ? 'its replays are on' : 'its replays are off'
  if (lines.priceList(id) !== priceList)
    return priceList === null ? 'it has no price list' : `it has the price list "${priceList}"`
  if (lines.keyDefaults(id) !== keyDefaults) return 'its new keys have other defaults'
  return undefined
}

/** The price list that a line gives an account. A detail that cannot be read names none. */
function priceListIn(detail: string | null): string | null {
  try {
    const { price_list: id }: { price_list?: unknown } = JSON.parse(detail ?? '{}')
    return typeof id === 'string' ? id : null
  } catch {
    return null
  }
}
