import { GatewayError } from '../errors.ts'
import type { LimitsPatch } from '../limits/limits-row.ts'
import { formatUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'
import type { NewKeyDefaultsPatch } from './key-defaults.ts'

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
  /** The id of its price list. Absent: it has the prices of the catalog. */
  readonly priceList?: string
  /** The balance below which webhooks are told. Absent for none. */
  readonly alertBelow?: NanoUsd
  /** The addresses that get mails about it. Absent for none, and where they are not needed. */
  readonly contacts?: readonly string[]
  /** True if webhooks are told of each job that ends. */
  readonly jobEvents?: true
}

/** The parts of an account that an operator can change. A part that is left out stays as it is. */
export type AccountPatch = {
  readonly name?: string
  /** Its keys are refused while it is suspended. Running work is settled. */
  readonly suspended?: boolean
  readonly replays?: boolean
  /** The id of a price list; null for the prices of the catalog. */
  readonly priceList?: string | null
  /** Webhooks are told when the balance falls below it. Null for none. */
  readonly alertBelow?: NanoUsd | null
  /** All addresses that get mails about it. */
  readonly contacts?: readonly string[]
  /** Whether webhooks are told of each job that ends. */
  readonly jobEvents?: boolean
  /** What it may use. */
  readonly limits?: LimitsPatch
  /** What its new keys begin with. */
  readonly keyDefaults?: NewKeyDefaultsPatch
}

/** Since when each switch of an account is set; null if it is not. */
export type AccountSwitches = {
  readonly suspendedAtMs: number | null
  readonly replaysOffAtMs: number | null
}

/** The audit actions of the switches of an account. */
export type SwitchAction =
  | 'account.suspend'
  | 'account.resume'
  | 'account.replays_on'
  | 'account.replays_off'
  | 'account.close'

/** The audit action of a rename. Its detail has the names. */
export const ACCOUNT_RENAME = 'account.rename'

/** The detail of the audit line of a rename. */
export function renameDetail(name: string, was: string): string {
  return JSON.stringify({ name, was })
}

/** The audit action of another price list. Its detail has the ids. */
export const ACCOUNT_PRICE_LIST = 'account.price_list'

/** The detail of the audit line of another price list. */
export function priceListDetail(priceList: string | null, was: string | null): string {
  return JSON.stringify({ price_list: priceList, was })
}

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

/** What an account still has when it is to be closed. */
export type OpenBooks = {
  /** Below zero if it owes money. */
  readonly available: NanoUsd
  readonly held: NanoUsd
  readonly openRequests: number
  readonly openJobs: number
}

/** Throws `account_not_empty` unless an account has no money, owes none, and has no running work. */
export function requireEmptyBooks(
  name: string,
  { available, held, openRequests, openJobs }: OpenBooks,
): void {
  const work = [countOf(openRequests, 'running request'), countOf(openJobs, 'open job')].filter(Boolean)
  const problems: string[] = []
  const remedies: string[] = []
  if (work.length > 0) {
    problems.push(`it has ${work.join(' and ')}, for which ${formatUsd(held)} USD is held`)
    remedies.push('Wait until running work has ended.')
  }
  if (available > ZERO) {
    problems.push(`${formatUsd(available)} USD is available`)
    remedies.push(`Take the money with a debit of ${formatUsd(available)} USD.`)
  }
  if (available < ZERO) {
    const owed = formatUsd(subtractUsd(ZERO, available))
    problems.push(`it owes ${owed} USD`)
    remedies.push(`Credit it with ${owed} USD.`)
  }
  if (problems.length === 0) return
  throw new GatewayError(
    'account_not_empty',
    `The account "${name}" is not empty: ${problems.join(', and ')}. ${remedies.join(' ')} Then close it again.`,
    {
      extensions: {
        available_usd: formatUsd(available),
        held_usd: formatUsd(held),
        open_requests: openRequests,
        open_jobs: openJobs,
      },
    },
  )
}

function countOf(count: number, thing: string): string {
  return count === 0 ? '' : `${count} ${thing}${count === 1 ? '' : 's'}`
}

/** The refusal of a change that a closed account does not take, such as `credits`. */
export function closedRefusal(what: string): GatewayError {
  return new GatewayError('already_closed', `This account is closed, so it takes no ${what}.`)
}

/** The refusal of a request whose key belongs to a closed account. */
export function closedAccountError(): GatewayError {
  return new GatewayError('account_closed', 'This account is closed. Contact support.', {
    shouldRetry: false,
  })
}
