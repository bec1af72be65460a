/** ISO 8601, in UTC with milliseconds. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString()
}

/** Null for a number that is not an instant. */
export function instantOrNull(atMs: number): string | null {
  return Number.isNaN(new Date(atMs).getTime()) ? null : instant(atMs)
}
