import type { Usage } from '../../domain/pricing/usage.ts'

/** The columns of a usage, in any table that has them. */
export type UsageColumns = {
  input: bigint
  cached_input: bigint
  cache_write: bigint
  audio_input: bigint
  output: bigint
  reasoning: bigint
  audio_output: bigint
}

export function usageFrom(row: UsageColumns): Usage {
  return {
    input: Number(row.input),
    cachedInput: Number(row.cached_input),
    cacheWrite: Number(row.cache_write),
    audioInput: Number(row.audio_input),
    output: Number(row.output),
    reasoning: Number(row.reasoning),
    audioOutput: Number(row.audio_output),
  }
}
