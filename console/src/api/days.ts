/**
 * The days of addresses and reports. A day is text, such as `2026-11-23`. Reports count days in UTC; lists have those of
 * the browser's time zone. The label of each field says which.
 */

const MS_PER_DAY = 86_400_000

/** The gateway reports and lists at most so many days at once. */
export const DAYS_MAX = 92

/** Days that an address names. Either may be missing, or a text that is no day. */
export type NamedDays = { readonly from?: string; readonly to?: string }

/** From one instant to another, as the admin API takes them. */
export type Range = { readonly from: string; readonly to: string }

/** Whether a text is a day that exists, such as `2026-11-23`. */
export function isDay(text: string | undefined): text is string {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const atMs = Date.parse(text)
  // Browsers read 30 February as a day of March.
  return !Number.isNaN(atMs) && instantOf(atMs).startsWith(text)
}

/** The last days in UTC, today included. */
export function lastDays(count: number, nowMs = Date.now()): Range {
  const endMs = (Math.floor(nowMs / MS_PER_DAY) + 1) * MS_PER_DAY
  return { from: instantOf(endMs - count * MS_PER_DAY), to: instantOf(endMs) }
}

/** The days of the current month in UTC, until today. */
export function thisMonth(nowMs = Date.now()): Range {
  const now = new Date(nowMs)
  return { ...lastDays(1, nowMs), from: instantOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())) }
}

/** Each day of a range in UTC. */
export function daysIn({ from, to }: Range): readonly string[] {
  const startMs = Date.parse(from)
  const count = Math.max(0, Math.round((Date.parse(to) - startMs) / MS_PER_DAY))
  return Array.from({ length: count }, (_, index) =>
    instantOf(startMs + index * MS_PER_DAY).slice(0, 'yyyy-mm-dd'.length),
  )
}

/**
 * The days of a report, both included, in UTC. Without a first day, it has the `days` before the last one, which is
 * today if it is missing. A longer range than `DAYS_MAX` begins later, and `isCut` says so.
 */
export function reportRange({ from, to }: NamedDays, days: number): Range & { readonly isCut: boolean } {
  const last = isDay(to) ? Date.parse(to) : Date.now()
  const longest = lastDays(DAYS_MAX, last)
  if (!isDay(from)) return { ...lastDays(days, last), isCut: false }
  const asked = `${from}T00:00:00.000Z`
  const isCut = Date.parse(asked) < Date.parse(longest.from)
  return { from: isCut ? longest.from : asked, to: longest.to, isCut }
}

/**
 * The days of a list, both included, in the time zone of the browser; empty if the address has none. A list with only a
 * last day begins a month before it.
 */
export function listRange({ from, to }: NamedDays): Partial<Range> {
  if (!isDay(from) && !isDay(to)) return {}
  const end = isDay(to) ? startOfDay(to, 1) : undefined
  const begin = isDay(from) ? startOfDay(from) : startOfDay(to ?? '', -DAYS_WITHOUT_FROM)
  return { from: begin, ...(end !== undefined && { to: end }) }
}

/** Like `listRange`, for a list whose range may be of any length: one of the two days is enough. */
export function openListRange({ from, to }: NamedDays): Partial<Range> {
  return { ...(isDay(from) && { from: startOfDay(from) }), ...(isDay(to) && { to: startOfDay(to, 1) }) }
}

/** Like `listRange`, for a list that has the last `days` if the address names none. */
export function recentListRange(named: NamedDays, days: number): Partial<Range> {
  const range = listRange(named)
  return range.from === undefined ? { from: startOfDay(localDay(new Date()), 1 - days) } : range
}

const DAYS_WITHOUT_FROM = 30

/** The start of a day in the time zone of the browser, some days later. */
function startOfDay(day: string, daysLater = 0): string {
  const at = new Date(`${day}T00:00:00`)
  at.setDate(at.getDate() + daysLater)
  return at.toISOString()
}

function localDay(at: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

function instantOf(ms: number): string {
  return new Date(ms).toISOString()
}
