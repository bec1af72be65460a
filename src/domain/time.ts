export const MS_PER_S = 1000
export const MS_PER_MINUTE = 60 * MS_PER_S
export const MS_PER_HOUR = 60 * MS_PER_MINUTE
export const MS_PER_DAY = 24 * MS_PER_HOUR

/** ISO 8601, in UTC with milliseconds. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString()
}

/** Null for a number that is not an instant. */
export function instantOrNull(atMs: number): string | null {
  return Number.isNaN(new Date(atMs).getTime()) ? null : instant(atMs)
}
