import {
  addUpRequests,
  percentileMs,
  reportGroups,
  type RequestSums,
  type ReportGroup,
} from '../../../domain/requests/request-report.ts'
import { MS_PER_HOUR, instant } from '../../../domain/time.ts'
import type { TimeRange } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { readDayRange, readPage, readTimeRange, refuseUnknown, wrongParameter } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'

/**
 * How many requests there were, how many failed, how long they took, and their tokens, by day, hour, status, model,
 * provider or account (`?by=`). Days and hours are in their order; other groups begin with the most requests, and
 * those beyond `?limit=` are only in the totals.
 */
export async function getRequestsReport({ query }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  refuseUnknown(query, ['by', 'from', 'to', 'limit'])
  const by = reportGroups.find(group => group === (query.get('by') ?? 'day'))
  if (by === undefined) throw wrongParameter('by', `must be one of ${reportGroups.join(', ')}`)
  const { limit } = readPage(query)
  const between =
    by === 'hour' ? readHourRange(query, ports.clock.now()) : readDayRange(query, ports.clock.now())
  const groups = [...(await ports.records.report({ by, between }))].toSorted(inOrder(by))
  const shown = isByTime(by) ? groups : groups.slice(0, limit)
  const names = by === 'account' ? await namesOf(shown, ports) : undefined
  return adminReply({
    from: instant(between.fromMs),
    to: instant(between.toMs),
    is_on: ports.records.isOn,
    data: shown.map(([group, sums]) => ({
      [by]: by === 'status' ? Number(group) : group,
      ...(names === undefined ? {} : { account_name: names.get(group) ?? null }),
      ...requestSumsJson(sums),
    })),
    has_more: shown.length < groups.length,
    totals: requestSumsJson(addUpRequests(groups.map(([, sums]) => sums))),
  })
}

/** Whole hours in UTC: without both, the last 24, the current one included. */
function readHourRange(query: URLSearchParams, nowMs: number): TimeRange {
  const endMs = Math.ceil((nowMs + 1) / MS_PER_HOUR) * MS_PER_HOUR
  const range = readTimeRange(query, nowMs) ?? { fromMs: endMs - 24 * MS_PER_HOUR, toMs: endMs }
  for (const [name, atMs] of [['from', range.fromMs] as const, ['to', range.toMs] as const])
    if (query.has(name) && atMs % MS_PER_HOUR !== 0)
      throw wrongParameter(name, 'must be the start of an hour in UTC, such as 2026-11-01T10:00:00Z')
  return { fromMs: range.fromMs, toMs: query.has('to') ? range.toMs : endMs }
}

type NamedSums = readonly [group: string, sums: RequestSums]

function isByTime(by: ReportGroup): boolean {
  return by === 'day' || by === 'hour'
}

function inOrder(by: ReportGroup): (left: NamedSums, right: NamedSums) => number {
  const byName = ([left]: NamedSums, [right]: NamedSums) => (left < right ? -1 : 1)
  if (isByTime(by)) return byName
  return (left, right) => right[1].requests - left[1].requests || byName(left, right)
}

export function requestSumsJson({ requests, errors, durations, firstBytes, tokens }: RequestSums) {
  return {
    requests,
    errors,
    duration_p50_ms: percentileMs(durations, 0.5),
    duration_p99_ms: percentileMs(durations, 0.99),
    first_byte_p50_ms: percentileMs(firstBytes, 0.5),
    first_byte_p99_ms: percentileMs(firstBytes, 0.99),
    tokens: Object.fromEntries(tokens),
  }
}

async function namesOf(
  groups: readonly NamedSums[],
  { accounts }: ReportPorts,
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(groups.map(([id]) => accounts.findAccount(id)))
  return new Map(found.flatMap(account => (account === undefined ? [] : [[account.publicId, account.name]])))
}
