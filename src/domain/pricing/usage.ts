export const inputBuckets = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'audioInput'] as const
export const outputBuckets = ['output', 'reasoning', 'audioOutput'] as const

/** The buckets that a text tariff prices. They are disjoint: each token is counted in exactly one of them. */
export const usageBuckets = [...inputBuckets, ...outputBuckets] as const

export type UsageBucket = (typeof usageBuckets)[number]

/** The words for the buckets in the catalog, in replies and in metrics. */
export const bucketNames = {
  input: 'input',
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
  audioInput: 'audio_input',
  output: 'output',
  reasoning: 'reasoning',
  audioOutput: 'audio_output',
} as const satisfies Record<UsageBucket, string>

/**
 * Tokens per bucket: integers of at least 0. `input` and `output` count the tokens that are in no finer bucket, and
 * `cacheWrite` those that are cached for less than an hour.
 */
export type Usage = { readonly [bucket in UsageBucket]: number } & {
  /** How often the model used tools that run on the provider's servers. */
  readonly serverToolUses: number
  /** How often the model searched the web. */
  readonly searchCalls: number
  /** How often the model searched stored files. */
  readonly fileSearches: number
  /** The service tier that the answer names. Absent if it names none. */
  readonly serviceTier?: string
}

/** The counts of tools that have a price for each call. */
export type ToolCalls = Pick<Usage, 'serverToolUses' | 'searchCalls' | 'fileSearches'>

export const NO_USAGE: Usage = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  audioInput: 0,
  output: 0,
  reasoning: 0,
  audioOutput: 0,
  serverToolUses: 0,
  searchCalls: 0,
  fileSearches: 0,
}

/** The source of a usage: `reported` by the upstream, or `estimated` by our tokenizer. */
export type Provenance = 'reported' | 'estimated'

export function inputTokens(usage: Usage): number {
  return usage.input + usage.cachedInput + usage.cacheWrite + usage.cacheWrite1h + usage.audioInput
}

export function outputTokens(usage: Usage): number {
  return usage.output + usage.reasoning + usage.audioOutput
}
