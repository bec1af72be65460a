import type { ImageTokens } from '../../../domain/pricing/image-tokens.ts'
import { NO_USAGE, type Usage } from '../../../domain/pricing/usage.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'

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
  search_calls: bigint | null
  file_searches: bigint | null
  service_tier: string | null
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
    searchCalls: Number(row.search_calls ?? 0n),
    fileSearches: Number(row.file_searches ?? 0n),
    ...(row.service_tier === null ? {} : { serviceTier: row.service_tier }),
  }
}

/** A usage as columns of a new row. */
export function usageColumns(usage: Usage) {
  const { cacheWrite1h, serverToolUses } = usage
  // Most usages need neither of the last two, and the form of a row has both or none.
  const hasAdded = cacheWrite1h + serverToolUses > 0
  return {
    input: usage.input,
    cached_input: usage.cachedInput,
    cache_write: usage.cacheWrite,
    audio_input: usage.audioInput,
    output: usage.output,
    reasoning: usage.reasoning,
    audio_output: usage.audioOutput,
    cache_write_1h: hasAdded ? cacheWrite1h : null,
    server_tool_uses: hasAdded ? serverToolUses : null,
    search_calls: usage.searchCalls === 0 ? null : usage.searchCalls,
    file_searches: usage.fileSearches === 0 ? null : usage.fileSearches,
    service_tier: usage.serviceTier ?? null,
  }
}

/** The usage that the columns of a charge hold. Tokens of images are in those of audio, the other kind beside text. */
export function usageOfCharge(charge: Charge): Usage {
  if (charge.kind === 'text') return charge.usage
  if (charge.kind === 'video' || charge.tokens === undefined) return NO_USAGE
  const { textInput, imageInput, textOutput, imageOutput } = charge.tokens
  return {
    ...NO_USAGE,
    input: textInput,
    audioInput: imageInput,
    output: textOutput,
    audioOutput: imageOutput,
  }
}

/** The tokens of a charge for images. */
export function imageTokensFrom(row: UsageColumns): ImageTokens {
  const { input, audioInput, output, audioOutput } = usageFrom(row)
  return { textInput: input, imageInput: audioInput, textOutput: output, imageOutput: audioOutput }
}

/** The columns of a usage that is not known. */
export const UNKNOWN_USAGE = {
  input: null,
  cached_input: null,
  cache_write: null,
  audio_input: null,
  output: null,
  reasoning: null,
  audio_output: null,
} as const satisfies Partial<Record<keyof ReturnType<typeof usageColumns>, null>>
