import type { JsonDocument } from './json/parse-json.ts'

const ASCII_CHARS_PER_TOKEN = 4
const ASCII_END = 0x80

/**
 * Estimates the tokens of a request's body: a quarter of a token for an ASCII character, one token for any other
 * character, a fixed number for each image or audio part, the most that the bytes of a file or a video can be, and one
 * token for each number, so that token arrays count exactly. `UNBOUNDED_INPUT` when a file or a video is only
 * referenced: the provider opens it, and its length is not known here.
 */
export function estimateInputTokens({ value, isAscii }: Pick<JsonDocument, 'value' | 'isAscii'>): number {
  const estimate = new Estimate(isAscii)
  walkInput(value, estimate)
  return estimate.total()
}

/**
 * Like `estimateInputTokens`, for a value that is all input. `isAscii` says that all of its texts are known to be
 * ASCII.
 */
export function estimateTokensOf(input: unknown, isAscii: boolean): number {
  const estimate = new Estimate(isAscii)
  walkInputOf(input, estimate)
  return estimate.total()
}

class Estimate implements InputSink {
  readonly #isAscii: boolean
  #asciiChars = 0
  #others = 0
  #tokens = 0

  constructor(isAscii: boolean) {
    this.#isAscii = isAscii
  }

  text(text: string): void {
    this.#asciiChars += text.length
    // Checking each character of a long English text would cost more than parsing it.
    if (!this.#isAscii) this.#countOthers(text)
  }

  tokens(count: number): void {
    this.#tokens += count
  }

  media(_tokens: number, most: number): void {
    this.#tokens += most
  }

  total(): number {
    return Math.ceil(this.#asciiChars / ASCII_CHARS_PER_TOKEN) + this.#others + this.#tokens
  }

  #countOthers(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit < ASCII_END) continue
      this.#asciiChars -= 1
      if (!isSecondHalf(text, at, unit)) this.#others += 1
    }
  }
}

/**
 * A character outside the basic plane is two UTF-16 units and counts once. A lone surrogate counts as one character.
 */
function isSecondHalf(text: string, at: number, unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}

/** The parts of a request body that become a model's input. */
export type InputParts = {
  /** Every string and key, without media. */
  readonly texts: string[]
  /** The tokens of everything else: a fixed number for each media part, one for each number, boolean and null. */
  tokens: number
}

/** The largest tiers of a single image at OpenAI (1,445) and Anthropic (about 1,600), rounded up. */
export const IMAGE_TOKENS = 1_700
/** Three minutes of speech at ten tokens a second. */
export const AUDIO_TOKENS = 2_000
/** A page or two of a document. */
export const FILE_TOKENS = 2_000
/** Half a minute of video at about 300 tokens a second. */
export const VIDEO_TOKENS = 10_000

/** For referenced content, which only the provider opens: it can be as long as all that the model can read. */
export const UNBOUNDED_INPUT = Infinity
/** A byte of compressed text is about four characters. */
const FILE_BYTES_PER_TOKEN = 1
/** Uncompressed speech has at least 16,000 bytes a second, which is about ten tokens. */
const WAV_BYTES_PER_TOKEN = 1_600
/** Compressed speech has at least 750 bytes a second. */
const AUDIO_BYTES_PER_TOKEN = 75
/** A nearly still picture has about ten thousand bits a second. */
const VIDEO_BYTES_PER_TOKEN = 4
const BYTES_PER_BASE64_CHAR = 3 / 4

type MediaPart = {
  /** The member with the media: a link, base64, or an object with either. */
  readonly payload: string
  /** The tokens of an ordinary one. */
  readonly tokens: number
  /** For media of any length: this many bytes are at most one token. */
  readonly bytesPerToken?: number
  /** Media whose bytes per token depend on the format. If it is only linked, it counts as an ordinary one. */
  readonly isAudio?: true
}

/** Content parts that carry media, by their `type`. */
const mediaParts: ReadonlyMap<unknown, MediaPart> = new Map<unknown, MediaPart>([
  ['image_url', { payload: 'image_url', tokens: IMAGE_TOKENS }],
  ['input_image', { payload: 'image_url', tokens: IMAGE_TOKENS }],
  ['image', { payload: 'source', tokens: IMAGE_TOKENS }],
  ['input_audio', { payload: 'input_audio', tokens: AUDIO_TOKENS, isAudio: true }],
  ['audio_url', { payload: 'audio_url', tokens: AUDIO_TOKENS, isAudio: true }],
  ['file', { payload: 'file', tokens: FILE_TOKENS, bytesPerToken: FILE_BYTES_PER_TOKEN }],
  ['input_file', { payload: 'file_data', tokens: FILE_TOKENS, bytesPerToken: FILE_BYTES_PER_TOKEN }],
  ['document', { payload: 'source', tokens: FILE_TOKENS, bytesPerToken: FILE_BYTES_PER_TOKEN }],
  ['video_url', { payload: 'video_url', tokens: VIDEO_TOKENS, bytesPerToken: VIDEO_BYTES_PER_TOKEN }],
])

/**
 * Only the parts in these fields carry media. Elsewhere, such as in a tool's schema, the model reads the same shape as
 * text.
 */
export const conversationFields: ReadonlySet<string> = new Set(['messages', 'input'])

/** Receives what a walk over a request's body finds. */
type InputSink = {
  /** A string or key that is not media. */
  text(text: string): void
  /** Something other than text, which is this many tokens. */
  tokens(count: number): void
  /** A media part, with its ordinary and its highest number of tokens. */
  media(tokens: number, most: number): void
}

/**
 * Walks the given fields of a request body, or all of them, except plain numbers, booleans and nulls: these are
 * settings, not input. A request with an output ceiling therefore has the same estimate as without.
 */
function walkInput(
  body: Readonly<Record<string, unknown>>,
  sink: InputSink,
  fields: readonly string[] = Object.keys(body),
): void {
  for (const field of fields) {
    const value = body[field]
    if (value === undefined || isSetting(value)) continue
    sink.text(field)
    walk(value, sink, conversationFields.has(field))
  }
}

/** Walks a value that is all input. */
function walkInputOf(value: unknown, sink: InputSink): void {
  walk(value, sink, true)
}

/** Collects what `walkInput` finds. */
export function inputParts(body: Readonly<Record<string, unknown>>, fields?: readonly string[]): InputParts {
  const parts = new Collected()
  walkInput(body, parts, fields)
  return parts.parts
}

/** Collects what `walkInputOf` finds. */
export function inputPartsOf(value: unknown): InputParts {
  const parts = new Collected()
  walkInputOf(value, parts)
  return parts.parts
}

class Collected implements InputSink {
  readonly parts: InputParts = { texts: [], tokens: 0 }

  text(text: string): void {
    this.parts.texts.push(text)
  }

  tokens(count: number): void {
    this.parts.tokens += count
  }

  media(tokens: number): void {
    this.parts.tokens += tokens
  }
}

function isSetting(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'boolean'
}

/** Keeps its own stack, because a body may be nested deeper than the runtime's stack. */
function walk(root: unknown, sink: InputSink, mayHoldMedia: boolean): void {
  const stack: object[] = []
  take(root, stack, sink)
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) take(item, stack, sink)
      continue
    }
    const object = value as Readonly<Record<string, unknown>>
    const type = mayHoldMedia ? object['type'] : undefined
    const media = type === undefined ? undefined : mediaParts.get(type)
    if (media !== undefined) sink.media(media.tokens, mostTokens(media, object[media.payload]))
    for (const key in object) {
      sink.text(key)
      if (key !== media?.payload) take(object[key], stack, sink)
    }
  }
}

function mostTokens({ tokens, bytesPerToken: fixed, isAudio }: MediaPart, payload: unknown): number {
  const bytesPerToken = isAudio === true ? audioBytesPerToken(payload) : fixed
  if (bytesPerToken === undefined) return tokens
  const chars = inlineChars(payload)
  if (chars === 0) return isAudio === true ? tokens : UNBOUNDED_INPUT
  return Math.max(tokens, Math.ceil((chars * BYTES_PER_BASE64_CHAR) / bytesPerToken))
}

/** By the format that the part names, or by the type of its data URL. */
function audioBytesPerToken(payload: unknown): number {
  const { format, url } = isObject(payload) ? payload : { format: undefined, url: payload }
  const isWav =
    (typeof format === 'string' && /^wav$/i.test(format)) ||
    (typeof url === 'string' && /^data:audio\/(?:x-|vnd\.)?wave?\b/i.test(url))
  return isWav ? WAV_BYTES_PER_TOKEN : AUDIO_BYTES_PER_TOKEN
}

/** The number of base64 characters in a payload; 0 for a link or for the id of something that the provider has. */
function inlineChars(payload: unknown): number {
  if (typeof payload === 'string') return isLink(payload) ? 0 : payload.length
  if (!isObject(payload)) return 0
  const { data, file_data: fileData, url } = payload
  let chars = 0
  for (const text of [data, fileData, url]) {
    if (typeof text === 'string' && !isLink(text)) chars += text.length
  }
  return chars
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isLink(text: string): boolean {
  return /^https?:/i.test(text)
}

function take(value: unknown, stack: object[], sink: InputSink): void {
  if (typeof value === 'string') sink.text(value)
  else if (typeof value === 'object' && value !== null) stack.push(value)
  else sink.tokens(1)
}
