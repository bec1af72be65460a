import {
  readGrouping,
  readTags,
  userIdFrom,
  type AttributionFilter,
  type AttributionGrouping,
} from '../../domain/ledger/attribution.ts'
import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { Ledger } from '../../gateway/ports/ledger/ledger.ts'
import type { NetTotals, TimeRange, UsageGroup } from '../../gateway/ports/ledger/ledger-reports.ts'
import { wrongParameter, type PageQuery } from '../list-query.ts'
import { totalsJson } from './usage.ts'

/** The parameters of a list of usage that `readSelection` reads. */
export const selectionParameters = ['group_by', 'tag', 'user', 'project'] as const

/** Which charges of a time range are asked for, and how they are grouped. */
export type UsageSelection = {
  readonly between: TimeRange
  /** Undefined for all requests. */
  readonly matching: AttributionFilter | undefined
  /** Undefined for each charge by itself. */
  readonly grouping: AttributionGrouping | undefined
}

/**
 * Reads `?group_by=`, `?tag=team=red` and `?user=`. Several tags must all be there. Undefined without a time range,
 * which all of them need. `apiKeyIds` are the keys of `?project=`. Throws `invalid_field`.
 */
export function readSelection(
  query: URLSearchParams,
  between: TimeRange | undefined,
  apiKeyIds: ReadonlySet<number> | undefined,
): UsageSelection | undefined {
  const groupBy = query.get('group_by')
  const grouping = groupBy === null ? undefined : readGrouping(groupBy, 'group_by')
  const matching = readFilter(query, apiKeyIds)
  if (between !== undefined) return { between, matching, grouping }
  const param = selectionParameters.find(name => query.has(name))
  if (param === undefined) return undefined
  throw wrongParameter('from', `is missing; "${param}" needs the time at which the range begins`)
}

function readFilter(
  query: URLSearchParams,
  apiKeyIds: ReadonlySet<number> | undefined,
): AttributionFilter | undefined {
  const [tag, user] = [query.getAll('tag'), query.get('user')]
  if (tag.length === 0 && user === null && apiKeyIds === undefined) return undefined
  const tags = readTags(tag.join(','), 'tag')
  if (tag.length > 0 && tags === undefined)
    throw wrongParameter('tag', 'must be a name and a value, such as "team=red"')
  // As ids are kept.
  const userId = userIdFrom(user)
  if (user !== null && userId === undefined) throw wrongParameter('user', 'must be the id of a user')
  return {
    tags: tags ?? new Map(),
    ...(userId !== undefined && { userId }),
    ...(apiKeyIds !== undefined && { apiKeyIds }),
  }
}

type GroupedSelection = UsageSelection & { readonly grouping: AttributionGrouping }

export function isGrouped(selection: UsageSelection | undefined): selection is GroupedSelection {
  return selection?.grouping !== undefined
}

type Asked = {
  readonly page: PageQuery
  readonly signal: CallerSignal
  /** The members of sums, which customers see less of than the operator. */
  readonly sumsOf: (totals: NetTotals) => object
}

/** A page of the groups of an account's usage, in the order of their values, and the totals of all groups. */
export async function groupedUsage(
  accountId: number,
  { between, matching = EVERY_REQUEST, grouping }: GroupedSelection,
  { page: { limit, cursor }, signal, sumsOf }: Asked,
  ledger: Pick<Ledger, 'usageGroups'>,
) {
  const after = cursor === undefined ? {} : { after: valueOf(cursor) }
  const asked = { between, matching, grouping, limit, signal, ...after }
  const { groups, hasMore, totals } = await ledger.usageGroups(accountId, asked)
  const groupJson = (group: UsageGroup) => ({
    object: 'usage_group',
    value: group.value,
    ...sumsOf(group),
  })
  const last = groups.at(-1)?.value ?? null
  return {
    data: groups.map(groupJson),
    has_more: hasMore,
    next: hasMore && last !== null ? cursorOf(last) : null,
    totals: totalsJson(between, totals, sumsOf),
  }
}

/** The totals of the selected charges. */
export async function selectedTotals(
  accountId: number,
  { between, matching }: UsageSelection,
  signal: CallerSignal,
  ledger: Pick<Ledger, 'usageTotals' | 'usageGroups'>,
): Promise<NetTotals> {
  if (matching === undefined) return ledger.usageTotals(accountId, between)
  return (await ledger.usageGroups(accountId, { between, matching, limit: 1, signal })).totals
}

const EVERY_REQUEST: AttributionFilter = { tags: new Map() }

/** The place after a group. */
function cursorOf(value: string): string {
  return `g${Buffer.from(value).toString('base64url')}`
}

function valueOf(cursor: string): string {
  if (!/^g[\w-]+$/.test(cursor)) throw wrongParameter('cursor', 'must be the "next" of an earlier page')
  return Buffer.from(cursor.slice(1), 'base64url').toString()
}
