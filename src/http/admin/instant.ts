/** ISO 8601, in UTC with milliseconds. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString()
}
