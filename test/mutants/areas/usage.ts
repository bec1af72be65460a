import type { Mutant } from '../mutant.ts'

const USAGE = 'src/protocol/usage.ts'
const USAGE_TESTS = 'src/protocol/usage.test.ts'
const TALLY = 'src/protocol/stream-tally.ts'
const PROMPTS = 'src/gateway/text/recent-prompts.ts'
const PROMPT_TESTS = 'src/gateway/text/recent-prompts.test.ts'
const METER_TESTS = 'src/protocol/chat-stream/meter.test.ts'

/** Faults in the tokens and costs that upstreams report. */
export const usageMutants: readonly Mutant[] = [
  {
    name: 'a negative count is charged as it is',
    file: USAGE,
    text: 'Number.isInteger(value) && (value as number) >= 0 ?',
    replacement: 'Number.isInteger(value) ?',
    tests: [USAGE_TESTS],
  },
  {
    name: 'a count above its limit is charged as it is',
    file: USAGE,
    text: "if (typeof value === 'number' && value > max) return this.clampTo(max)",
    replacement: '',
    tests: [USAGE_TESTS],
  },
  {
    name: 'a count that was replaced is not marked',
    file: USAGE,
    text: 'this.isClamped = true',
    replacement: '',
    tests: [USAGE_TESTS],
  },
  {
    name: 'cached tokens beside the prompt are not charged',
    file: USAGE,
    text: 'return !isOpenAi',
    replacement: 'return isOpenAi',
    tests: [USAGE_TESTS],
  },
  {
    name: 'cached tokens beside the prompt exceed the context window',
    file: USAGE,
    text: 'counter.atMost(max - whole, cached)',
    replacement: 'counter.atMost(max, cached)',
    tests: [USAGE_TESTS],
  },
  {
    name: 'tokens written to a cache beside the prompt exceed the context window',
    file: USAGE,
    text: 'counter.atMost(max - whole - cachedInput, written)',
    replacement: 'counter.atMost(max - whole, written)',
    tests: [USAGE_TESTS],
  },
  {
    name: 'cached tokens within the prompt are charged twice',
    file: USAGE,
    text: 'return { input: whole - cachedInput - cacheWrite - audioInput, cachedInput, cacheWrite, audioInput }',
    replacement: 'return { input: whole - cacheWrite - audioInput, cachedInput, cacheWrite, audioInput }',
    tests: [USAGE_TESTS],
  },
  {
    name: 'reasoning within the completion is charged twice',
    file: USAGE,
    text: 'return { output: whole - reasoning - audioOutput, reasoning, audioOutput }',
    replacement: 'return { output: whole - audioOutput, reasoning, audioOutput }',
    tests: [USAGE_TESTS],
  },
  {
    name: 'reasoning beside the completion is not charged',
    file: USAGE,
    text: 'isReasoningBeside(totals, reasoned)) {',
    replacement: 'reasoned < 0) {',
    tests: [USAGE_TESTS],
  },
  {
    name: 'hidden thinking is not clamped to the ceiling',
    file: USAGE,
    text: 'reasoning: counter.atMost(max - whole, reasoned), audioOutput',
    replacement: 'reasoning: reasoned, audioOutput',
    tests: [USAGE_TESTS],
  },
  {
    name: 'hidden thinking is added to a reported reasoning of zero',
    file: USAGE,
    text: 'limits.hidesThinking === true && isAbsent(reported)',
    replacement: 'limits.hidesThinking === true && !reported',
    tests: [USAGE_TESTS],
  },
  {
    name: 'two names of one cache are added up',
    file: USAGE,
    text: "Math.max(cachedWithin, counter.count(usage['cache_read_input_tokens'], max))",
    replacement: "cachedWithin + counter.count(usage['cache_read_input_tokens'], max)",
    tests: [USAGE_TESTS],
  },
  {
    name: 'a stream with an error counts as complete',
    file: TALLY,
    text: 'endedWell: isComplete && !this.#errorSeen',
    replacement: 'endedWell: isComplete',
    tests: [METER_TESTS],
  },
  {
    name: 'an empty delta counts as output',
    file: TALLY,
    text: "if (text !== '') this.#outputBegan = true",
    replacement: 'this.#outputBegan = true',
    tests: [METER_TESTS],
  },
  {
    name: 'the first usage of a stream counts, not the last',
    file: TALLY,
    text: 'this.#usage = usage',
    replacement: 'this.#usage ??= usage',
    tests: ['test/scenarios/streams-ended.test.ts'],
  },
  {
    name: 'a charge by the reported cost is rounded down',
    file: 'src/domain/pricing/charge.ts',
    text: 'divideRoundingUp(units * markupBillionths, 10n ** BigInt(scale))',
    replacement: 'nanoUsd((units * markupBillionths) / 10n ** BigInt(scale))',
    tests: ['src/domain/pricing/charge.test.ts'],
  },
  {
    name: 'a reported cost is rounded before its markup',
    file: 'src/domain/pricing/charge.ts',
    text: 'divideRoundingUp(units * markupBillionths, 10n ** BigInt(scale))',
    replacement:
      'divideRoundingUp(divideRoundingUp(units * 1_000_000_000n, 10n ** BigInt(scale)) * markupBillionths, 1_000_000_000n)',
    tests: ['src/domain/pricing/charge.test.ts'],
  },
  {
    name: 'an estimate counts more tokens as cached than the last request had',
    file: PROMPTS,
    text: 'Math.min(sharedTokens, last.cachedTokens)',
    replacement: 'sharedTokens',
    tests: [PROMPT_TESTS, 'test/scenarios/assumed-cache.test.ts'],
  },
  {
    name: 'an estimate counts as cached what the provider has forgotten',
    file: PROMPTS,
    text: 'last === undefined || last.expiresAtMs <= this.#clock.monotonicMs()',
    replacement: 'last === undefined',
    tests: [PROMPT_TESTS],
  },
  {
    name: 'an estimate counts a prompt as cached that begins in another way',
    file: PROMPTS,
    text: '!isWhole || this.#hash(text) !== hash',
    replacement: '!isWhole',
    tests: [PROMPT_TESTS],
  },
  {
    name: 'a request without cached tokens leaves the prompt before it',
    file: PROMPTS,
    text: '    this.#forget(key)\n    if (cachedInput === 0) return\n',
    replacement: '    if (cachedInput === 0) return\n    this.#forget(key)\n',
    tests: [PROMPT_TESTS],
  },
  {
    name: 'remembered prompts have no limit',
    file: PROMPTS,
    text: 'const isFull = this.#prompts.size > PROMPTS_MAX || this.#blocks > BLOCKS_MAX',
    replacement: 'const isFull = false',
    tests: [PROMPT_TESTS],
  },
  {
    name: 'an input that the provider reported counts as assumed',
    file: 'src/gateway/text/meter-usage.ts',
    text: 'produced.inputUsage === undefined ? read.cachedInput : 0',
    replacement: 'read.cachedInput',
    tests: ['src/gateway/text/meter-usage.test.ts'],
  },
]
