/** The network's or the runtime's code for it, such as `ECONNREFUSED`; never a message, which may name host or key. */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
