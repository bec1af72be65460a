import type { DayGrants, GrantAllowance } from '../../../domain/admin/admin-token.ts'
import { nanoUsd } from '../../../domain/money.ts'
import { first, type Step } from '../steps.ts'

/** The columns of a credit that name who gave it, and the day that it counts for. */
const columnsOf = {
  token: { id: 'token_id', day: 'token_day' },
  user: { id: 'by_user_id', day: 'by_user_day' },
} as const satisfies Record<GrantAllowance['of'], { readonly id: string; readonly day: string }>

/**
 * The grants of a token or a user on its latest day with grants. The credits themselves are added up, so that no other
 * count can differ from them.
 */
export function* latestGrants(granter: Pick<GrantAllowance, 'of' | 'id'>): Step<DayGrants | undefined> {
  const { id, day } = columnsOf[granter.of]
  const row = yield* first<{ day: bigint; granted: bigint }>(
    `SELECT ${day} AS day, CAST(sum(amount) AS bigint) AS granted FROM credits WHERE ${id} = ?
      GROUP BY ${day} ORDER BY ${day} DESC LIMIT 1`,
    granter.id,
  )
  return row === undefined ? undefined : { day: Number(row.day), granted: nanoUsd(row.granted) }
}
