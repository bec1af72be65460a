import type { LimitsPatch } from '../limits/limits-row.ts'
import { renameDetail } from './account.ts'
import type { KeySecret } from './key-secrets.ts'
import {
  encodeKeySettingsPatch,
  patchKeySettings,
  writeKeySettings,
  type KeySettings,
  type KeySettingsPatch,
} from './key-settings.ts'

export type ApiKey = {
  readonly id: number
  /** `key_…` */
  readonly publicId: string
  readonly accountId: number
  /** `Project.id`; absent for a key without a project. It never changes. */
  readonly projectId?: number
  readonly name: string
  /** The first 12 characters of its current secret, for lists. */
  readonly prefix: string
  /** Oldest first. A key that was never rotated has one. */
  readonly secrets: readonly KeySecret[]
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
  /** Null unless the operator disabled it. It can be enabled again. */
  readonly disabledAtMs: number | null
  /** Undefined for a key that nothing restricts. */
  readonly settings?: KeySettings
  /** The latest day of its use, as the number of days since 1970 in UTC. Null if it was never used. */
  readonly lastUsedDay: number | null
}

/** The parts of a key that an operator can change. A part that is left out stays as it is. */
export type KeyPatch = {
  readonly name?: string
  /** Nothing ends a revocation. */
  readonly revoked?: true
  readonly disabled?: boolean
  /** What it may be used for. */
  readonly settings?: KeySettingsPatch
  /** How much it may use, within the limits of its project and its account. */
  readonly limits?: LimitsPatch
}

/** The audit actions that turn a switch of a key on or off. */
export type KeySwitchAction = 'key.revoke' | 'key.disable' | 'key.enable'

/** The audit action of a rename. Its detail has the names. */
export const KEY_RENAME = 'key.rename'

/** The action of an audit line, with its detail. */
type KeyChange = {
  readonly action: KeySwitchAction | 'key.update' | typeof KEY_RENAME
  readonly detail?: string
}

/** A key after a patch, without its limits, and an audit line for each part that the patch changes. */
export function patchKey(
  { name, revokedAtMs, disabledAtMs, settings, ...rest }: ApiKey,
  patch: KeyPatch,
  atMs: number,
): { readonly key: ApiKey; readonly changes: readonly KeyChange[] } {
  const { name: newName = name, revoked = revokedAtMs !== null, disabled = disabledAtMs !== null } = patch
  const changed = patch.settings === undefined ? settings : patchKeySettings(settings, patch.settings)
  const changes: KeyChange[] = []
  if (newName !== name) changes.push({ action: KEY_RENAME, detail: renameDetail(newName, name) })
  if (patch.settings !== undefined && writeKeySettings(changed) !== writeKeySettings(settings))
    changes.push({ action: 'key.update', detail: settingsDetail(patch.settings) })
  if (disabled !== (disabledAtMs !== null)) changes.push({ action: disabled ? 'key.disable' : 'key.enable' })
  if (revoked && revokedAtMs === null) changes.push({ action: 'key.revoke' })
  const key = {
    ...rest,
    name: newName,
    revokedAtMs: revoked ? (revokedAtMs ?? atMs) : null,
    disabledAtMs: disabled ? (disabledAtMs ?? atMs) : null,
    ...(changed === undefined ? {} : { settings: changed }),
  }
  return { key, changes }
}

/** The detail of the audit line of a change of settings: the change, in the format of the admin API. */
export function settingsDetail(patch: KeySettingsPatch): string {
  return JSON.stringify(encodeKeySettingsPatch(patch))
}
