/**
 * The code of the network or of the runtime, such as `ECONNREFUSED`. Never a message, which may name a host or a key.
 */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
