/**
 * The bytes of text kept of one stream, for the tokenizer. The tokens of the rest are extrapolated. 16 KB is about
 * 4,000 tokens, enough for a good estimate of the tokens per character.
 */
export const SAMPLE_BYTES_MAX = 16 * 1024

const SAMPLE_BYTES_MIN = 128
const ASCII_END = 0x80
const ASCII_CHARS_PER_TOKEN = 4

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Collects the text of a stream in bounded memory, separately for each output channel. */
export class ProducedText {
  readonly #channels: ChannelText[] = []
  #keptBytes = 0
  #keptWeight = 0
  #weight = 0

  /** The kept text of each output channel. */
  texts(): string[] {
    return this.#channels.map(channel => channel.text())
  }

  /** The estimated tokens of all text, divided by those of the kept text; 1 when everything was kept. */
  get scale(): number {
    return this.#keptWeight === 0 ? 1 : this.#weight / this.#keptWeight
  }

  add(outputChannel: number, text: string): void {
    if (text === '') return
    const weight = weightOf(text)
    this.#weight += weight
    // A UTF-16 unit takes at most three bytes in UTF-8.
    if (this.#keptBytes + text.length * 3 > SAMPLE_BYTES_MAX) {
      this.#addStart(outputChannel, text, weight)
      return
    }
    this.#keptBytes += this.#channel(outputChannel).append(text)
    this.#keptWeight += weight
  }

  /** Like `add`, for a text in plain ASCII that is a part of `bytes`. */
  addPlain(outputChannel: number, bytes: Uint8Array, start: number, end: number): void {
    const length = end - start
    if (length === 0 || this.#keptBytes + length * 3 > SAMPLE_BYTES_MAX) {
      this.add(outputChannel, decoder.decode(bytes.subarray(start, end)))
      return
    }
    const weight = length / ASCII_CHARS_PER_TOKEN
    this.#weight += weight
    this.#keptWeight += weight
    this.#keptBytes += length
    this.#channel(outputChannel).appendPlain(bytes, start, end)
  }

  /** Keeps a part of a first text that is larger than the whole sample, so that there is a sample. */
  #addStart(outputChannel: number, text: string, weight: number): void {
    if (this.#keptBytes > 0) return
    const start = text.slice(0, Math.floor(SAMPLE_BYTES_MAX / 3))
    this.#keptBytes += this.#channel(outputChannel).append(start)
    this.#keptWeight += start.length === text.length ? weight : weightOf(start)
  }

  #channel(id: number): ChannelText {
    for (const channel of this.#channels) if (channel.id === id) return channel
    const channel = new ChannelText(id)
    this.#channels.push(channel)
    return channel
  }
}

/** The text of one output channel as UTF-8: a string built from a thousand deltas would keep all of them in memory. */
class ChannelText {
  readonly id: number
  #bytes = new Uint8Array(SAMPLE_BYTES_MIN)
  #length = 0

  constructor(id: number) {
    this.id = id
  }

  /** Appends a text and returns its number of bytes. */
  append(text: string): number {
    this.#makeRoom(text.length * 3)
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.#length))
    this.#length += written
    return written
  }

  /** Copies in a loop: a delta is one word, for which a view and a native copy would cost more. */
  appendPlain(from: Uint8Array, start: number, end: number): void {
    this.#makeRoom(end - start)
    const bytes = this.#bytes
    const offset = this.#length - start
    for (let at = start; at < end; at += 1) bytes[offset + at] = from[at] as number
    this.#length += end - start
  }

  #makeRoom(length: number): void {
    const most = this.#length + length
    if (most <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(most, this.#bytes.length * 2))
    grown.set(this.#bytes)
    this.#bytes = grown
  }

  text(): string {
    return decoder.decode(this.#bytes.subarray(0, this.#length))
  }
}

/** A rough number of tokens, good enough to compare parts of a stream. */
function weightOf(text: string): number {
  let others = 0
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) >= ASCII_END) others += 1
  return (text.length - others) / ASCII_CHARS_PER_TOKEN + others
}
