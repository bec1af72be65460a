/** Reports count days in UTC, from the start of one to the start of another. */

const MS_PER_DAY = 86_400_000

export type UtcRange = { readonly from: string; readonly to: string }

/** The last days, today included. */
export function lastDays(count: number, nowMs = Date.now()): UtcRange {
  const endMs = (Math.floor(nowMs / MS_PER_DAY) + 1) * MS_PER_DAY
  return { from: instantOf(endMs - count * MS_PER_DAY), to: instantOf(endMs) }
}

/** Each day of a range, such as `2026-11-23`. */
export function daysIn({ from, to }: UtcRange): readonly string[] {
  const startMs = Date.parse(from)
  return Array.from({ length: Math.round((Date.parse(to) - startMs) / MS_PER_DAY) }, (_, index) =>
    instantOf(startMs + index * MS_PER_DAY).slice(0, 'yyyy-mm-dd'.length),
  )
}

/** From the start of one day to the end of another. Either may be missing, or a text of an address that is no day. */
export function betweenDays(from: string | undefined, to: string | undefined): Partial<UtcRange> {
  return {
    ...(isDay(from) && { from: `${from}T00:00:00Z` }),
    ...(isDay(to) && { to: instantOf(Date.parse(`${to}T00:00:00Z`) + MS_PER_DAY) }),
  }
}

/** Whether a text is a day, such as `2026-11-23`. */
export function isDay(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

function instantOf(ms: number): string {
  return new Date(ms).toISOString()
}
