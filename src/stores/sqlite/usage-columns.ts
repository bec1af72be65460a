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
  /** Null for none, as in most rows. */
  cache_write_1h: bigint | null
  server_tool_uses: bigint | null
}

export function usageFrom(row: UsageColumns): Usage {
  return {
    input: Number(row.input),
    cachedInput: Number(row.cached_input),
    cacheWrite: Number(row.cache_write),
    cacheWrite1h: Number(row.cache_write_1h ?? 0n),
    audioInput: Number(row.audio_input),
    output: Number(row.output),
    reasoning: Number(row.reasoning),
    audioOutput: Number(row.audio_output),
    serverToolUses: Number(row.server_tool_uses ?? 0n),
  }
}

/** The columns that most usages do not need: both counts, or undefined if both are zero. */
export function addedColumnsOf({ cacheWrite1h, serverToolUses }: Usage): readonly number[] | undefined {
  return cacheWrite1h + serverToolUses === 0 ? undefined : [cacheWrite1h, serverToolUses]
}
