import { GatewayError } from '../errors.ts'
import { formatUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'

/**
 * What the holder of an admin token may do: read the admin API, read the metrics, give grants up to an amount a day, or
 * everything that the holder of the admin key may do.
 */
export const adminScopes = ['read', 'metrics', 'grants', 'all'] as const
export type AdminScope = (typeof adminScopes)[number]

/** The rights of a caller of the admin API. */
export type AdminRights = {
  readonly scopes: readonly AdminScope[]
  /** The most that its grants of one day in UTC may add up to. Null unless it has the scope `grants`. */
  readonly grantsPerDay: NanoUsd | null
  /** Null for rights that do not expire. */
  readonly expiresAtMs: number | null
}

/** The rights of the holder of the admin key. */
export const FULL_RIGHTS: AdminRights = { scopes: ['all'], grantsPerDay: null, expiresAtMs: null }

export type AdminToken = AdminRights & {
  /** The store's integer key. */
  readonly id: number
  /** `tok_…` */
  readonly publicId: string
  /** Unique among the tokens that are not revoked. */
  readonly name: string
  /** The first 13 characters of the token, for lists. */
  readonly prefix: string
  /** Who created it, as in the audit log. */
  readonly createdBy: string
  readonly createdAtMs: number
  /** The number of days from 1970 to the day of its last use, in UTC. Null if it was never used. */
  readonly lastUsedDay: number | null
  readonly revokedAtMs: number | null
}

/** Whether these scopes include one of those that something needs. */
export function hasScope(scopes: readonly AdminScope[], needed: readonly AdminScope[]): boolean {
  return scopes.includes('all') || needed.some(scope => scopes.includes(scope))
}

/** Why a token is refused. An expired token that was also revoked is `revoked`. */
export function tokenProblem(
  { revokedAtMs, expiresAtMs }: Pick<AdminToken, 'revokedAtMs' | 'expiresAtMs'>,
  nowMs: number,
): 'revoked' | 'expired' | undefined {
  if (revokedAtMs !== null) return 'revoked'
  return expiresAtMs !== null && nowMs >= expiresAtMs ? 'expired' : undefined
}

/** The part of some rights that its creator does not have. A token must not have more than its creator. */
export function excessOver(creator: AdminRights, asked: AdminRights): keyof AdminRights | undefined {
  if (!asked.scopes.every(scope => hasScope(creator.scopes, [scope]))) return 'scopes'
  if (!creator.scopes.includes('all') && (asked.grantsPerDay ?? ZERO) > (creator.grantsPerDay ?? ZERO))
    return 'grantsPerDay'
  const isLonger =
    creator.expiresAtMs !== null && (asked.expiresAtMs === null || asked.expiresAtMs > creator.expiresAtMs)
  return isLonger ? 'expiresAtMs' : undefined
}

/** What the grants of an admin token or of a user are counted against. */
export type GrantAllowance = {
  readonly of: 'token' | 'user'
  /** The store's integer key of it. */
  readonly id: number
  readonly perDay: NanoUsd
}

/** The grants of a token or a user on the latest day on which it gave any. */
export type DayGrants = { readonly day: number; readonly granted: NanoUsd }

/**
 * The day that a grant counts for. Throws `grants_per_day_exceeded` if the grants of that day would add up to more than
 * the allowance. The latest day is current until it ends, so a clock that is set back does not start another one.
 */
export function dayOfGrant(
  { of, perDay }: Pick<GrantAllowance, 'of' | 'perDay'>,
  latest: DayGrants | undefined,
  { amount, atMs }: { readonly amount: NanoUsd; readonly atMs: number },
): number {
  const today = currentDay(latest, atMs)
  const rest = subtractUsd(perDay, today.granted)
  if (amount <= rest) return today.day
  const resetsAt = new Date((today.day + 1) * MS_PER_DAY).toISOString()
  throw new GatewayError(
    'grants_per_day_exceeded',
    `${subjectOf[of]} may grant ${formatUsd(perDay)} USD a day, of which ${formatUsd(today.granted)} USD was granted today. A grant of ${formatUsd(amount)} USD does not fit into the rest of ${formatUsd(rest)} USD. The day ends at ${resetsAt} (UTC).`,
    {
      param: 'amount_usd',
      shouldRetry: false,
      extensions: {
        grants_per_day_usd: formatUsd(perDay),
        granted_today_usd: formatUsd(today.granted),
        remaining_usd: formatUsd(rest),
        resets_at: resetsAt,
      },
    },
  )
}

const subjectOf = { token: 'This admin token', user: 'You' } as const satisfies Record<
  GrantAllowance['of'],
  string
>

/** What was granted on the current day. */
export function currentDay(latest: DayGrants | undefined, nowMs: number): DayGrants {
  const day = Math.floor(nowMs / MS_PER_DAY)
  return latest !== undefined && latest.day >= day ? latest : { day, granted: ZERO }
}

const MS_PER_DAY = 86_400_000
