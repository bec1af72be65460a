/** The buckets a text tariff prices. They are disjoint: a token stands in exactly one of them. */
export const usageBuckets = [
  'input',
  'cachedInput',
  'cacheWrite',
  'audioInput',
  'output',
  'reasoning',
  'audioOutput',
] as const

export type UsageBucket = (typeof usageBuckets)[number]

/** Tokens per bucket, whole and not negative. `input` and `output` hold what no finer bucket does. */
export type Usage = { readonly [bucket in UsageBucket]: number }

export const NO_USAGE: Usage = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  audioInput: 0,
  output: 0,
  reasoning: 0,
  audioOutput: 0,
}

/** Where a usage comes from: the upstream's own numbers, or our tokenizer. */
export type Provenance = 'reported' | 'estimated'

export function inputTokens(usage: Usage): number {
  return usage.input + usage.cachedInput + usage.cacheWrite + usage.audioInput
}

export function outputTokens(usage: Usage): number {
  return usage.output + usage.reasoning + usage.audioOutput
}
