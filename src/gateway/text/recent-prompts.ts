import type { Usage } from '../../domain/pricing/usage.ts'
import type { Clock } from '../ports/clock.ts'
import type { Tokenizer } from '../ports/providers/tokenizer.ts'
import type { Destination } from '../upstreams/destinations.ts'
import type { AdmittedRequest } from './admit-text.ts'

/** Providers keep a prompt in their cache for about this long after its last use. */
export const PROMPT_TTL_MS = 300_000
/** The characters of a block, which is about 250 tokens. Providers cache in steps of 128 tokens or more. */
export const BLOCK_CHARS = 1024
/** How much of a prompt is remembered: about a million tokens. */
export const PROMPT_BLOCKS_MAX = 4096
/** The limits of all prompts together: 4 MB of hashes, and the memory around them. The oldest are forgotten. */
export const PROMPTS_MAX = 10_000
export const BLOCKS_MAX = 1_000_000

type Prompt = {
  /** Of its remembered part. */
  readonly chars: number
  /** The hash of each block. The last block may be shorter. */
  readonly hashes: Uint32Array
  /** As its upstream reported them. */
  readonly cachedTokens: number
  readonly expiresAtMs: number
}

type Sent = Pick<AdmittedRequest, 'call' | 'model' | 'request'>

/**
 * The prompts of complete requests that the upstream had in its cache: the last one of each key, model and upstream. If
 * a request ends without a usage, the part of its prompt that begins like this one probably came from the cache too.
 *
 * It keeps hashes instead of texts, and only of prompts with cached tokens, so most requests cost it one lookup.
 */
export class RecentPrompts {
  readonly #clock: Clock
  readonly #hash: (text: string) => number
  /** In the order of their requests. */
  readonly #prompts = new Map<string, Prompt>()
  #blocks = 0

  /** `hash` gives 32 bits. A collision could only make an estimate a little lower. */
  constructor(ports: { readonly clock: Clock; readonly hash: (text: string) => number }) {
    this.#clock = ports.clock
    this.#hash = ports.hash
  }

  /** The number of remembered prompts. */
  get size(): number {
    return this.#prompts.size
  }

  /** Remembers the prompt of a complete request, or forgets the one before if the upstream had none of it cached. */
  note(sent: Sent, destination: Destination, { cachedInput }: Usage): void {
    if (cachedInput === 0 && this.#prompts.size === 0) return
    const key = keyOf(sent, destination)
    this.#forget(key)
    if (cachedInput === 0) return
    const prompt = sent.request.prompt()
    const chars = Math.min(prompt.length, PROMPT_BLOCKS_MAX * BLOCK_CHARS)
    const hashes = new Uint32Array(Math.ceil(chars / BLOCK_CHARS))
    for (const block of hashes.keys()) hashes[block] = this.#hash(blockOf(prompt, block, chars))
    const expiresAtMs = this.#clock.monotonicMs() + PROMPT_TTL_MS
    this.#prompts.set(key, { chars, hashes, cachedTokens: cachedInput, expiresAtMs })
    this.#blocks += hashes.length
    this.#makeRoom()
  }

  /**
   * How much of an estimated input of `inputTokens` counts as cached: the part that begins like the remembered prompt,
   * at most that prompt's cached tokens.
   */
  async cachedTokens(
    sent: Sent,
    destination: Destination,
    { inputTokens, tokenizer }: { readonly inputTokens: number; readonly tokenizer: Tokenizer },
  ): Promise<number> {
    const last = this.#prompts.get(keyOf(sent, destination))
    if (last === undefined || last.expiresAtMs <= this.#clock.monotonicMs()) return 0
    const prompt = sent.request.prompt()
    const shared = this.#sharedChars(prompt, last)
    if (shared === 0) return 0
    // The JSON has more tokens than the input, but its parts have about the same shares.
    const [part, whole] = await Promise.all([
      tokenizer.countTokens([prompt.slice(0, shared)]),
      tokenizer.countTokens([prompt]),
    ])
    const sharedTokens = part < whole ? Math.floor((inputTokens * part) / whole) : inputTokens
    return Math.min(sharedTokens, last.cachedTokens)
  }

  #sharedChars(prompt: string, { chars, hashes }: Prompt): number {
    let shared = 0
    for (const [block, hash] of hashes.entries()) {
      const text = blockOf(prompt, block, chars)
      const isWhole = block * BLOCK_CHARS + text.length === Math.min((block + 1) * BLOCK_CHARS, chars)
      if (!isWhole || this.#hash(text) !== hash) return shared
      shared += text.length
    }
    return shared
  }

  #forget(key: string): void {
    const prompt = this.#prompts.get(key)
    if (prompt === undefined) return
    this.#prompts.delete(key)
    this.#blocks -= prompt.hashes.length
  }

  #makeRoom(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [key, { expiresAtMs }] of this.#prompts) {
      const isFull = this.#prompts.size > PROMPTS_MAX || this.#blocks > BLOCKS_MAX
      if (!isFull && expiresAtMs > nowMs) return
      this.#forget(key)
    }
  }
}

/** The characters of a block that are before `end`. */
function blockOf(prompt: string, block: number, end: number): string {
  return prompt.slice(block * BLOCK_CHARS, Math.min((block + 1) * BLOCK_CHARS, end))
}

/** No part of it has a line break. */
function keyOf({ call, model }: Sent, { provider, upstream }: Destination): string {
  return `${call.caller.apiKey.id}\n${model.id}\n${provider.id}\n${upstream.model}`
}
