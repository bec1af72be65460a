import type { LimitsPatch } from '../limits/limits-row.ts'
import type { TermsPatch } from '../limits/scope.ts'

export type Account = {
  /** The store's integer key. Never shown to clients. */
  readonly id: number
  /** `acct_…` */
  readonly publicId: string
  readonly name: string
  /** The demo account of a first start. Its keys can only call sandbox models. */
  readonly sandboxOnly: boolean
  readonly createdAtMs: number
  /** Null unless the operator suspended it: its keys are then refused. */
  readonly suspendedAtMs: number | null
  /** Absent unless the operator closed it: its keys are then refused, and it takes no money and no keys. */
  readonly closedAtMs?: number
  /** False if identical requests of its keys never share an answer. */
  readonly replays?: false
}

/** The parts of an account that an operator can change. A part that is left out stays as it is. */
export type AccountPatch = {
  /** Its keys are refused while it is suspended. Running work is settled. */
  readonly suspended?: boolean
  readonly replays?: boolean
  /** What it may use. */
  readonly limits?: LimitsPatch
  /** What its new keys may use. */
  readonly keyDefaults?: TermsPatch
}

/** Since when each switch of an account is set; null if it is not. */
export type AccountSwitches = {
  readonly suspendedAtMs: number | null
  readonly replaysOffAtMs: number | null
}

/** The audit actions of the switches of an account. */
export type SwitchAction = 'account.suspend' | 'account.resume' | 'account.replays_on' | 'account.replays_off'

/** The switches of an account after a patch, and the action of each switch that it changes. */
export function patchSwitches(
  { suspendedAtMs, replaysOffAtMs }: AccountSwitches,
  { suspended = suspendedAtMs !== null, replays = replaysOffAtMs === null }: AccountPatch,
  atMs: number,
): AccountSwitches & { readonly actions: readonly SwitchAction[] } {
  const actions: SwitchAction[] = []
  if (suspended !== (suspendedAtMs !== null)) actions.push(suspended ? 'account.suspend' : 'account.resume')
  if (replays !== (replaysOffAtMs === null))
    actions.push(replays ? 'account.replays_on' : 'account.replays_off')
  return {
    suspendedAtMs: suspended ? (suspendedAtMs ?? atMs) : null,
    replaysOffAtMs: replays ? null : (replaysOffAtMs ?? atMs),
    actions,
  }
}
