/** What of a request body becomes a model's input. */
export type InputParts = {
  /** Every string and key, media left out. */
  readonly texts: string[]
  /** For what is no text: media at a flat number each; numbers, booleans and nulls at one each. */
  tokens: number
}

/** What OpenAI's and Anthropic's largest tiers of a single image come to (1,445 and about 1,600), rounded up. */
export const IMAGE_TOKENS = 1_700
/** Three minutes of speech at ten tokens a second. */
export const AUDIO_TOKENS = 2_000
/** A page or two of a document. */
export const FILE_TOKENS = 2_000
/** Half a minute of video at about 300 tokens a second. */
export const VIDEO_TOKENS = 10_000

/** What a provider opens and the gateway does not: it can come to all that the model reads. */
export const UNBOUNDED_INPUT = Infinity
/** Compressed text: a byte of it stands for about four characters. */
const FILE_BYTES_PER_TOKEN = 1
/** A picture that hardly moves, at ten thousand bits a second. */
const VIDEO_BYTES_PER_TOKEN = 4
const BYTES_PER_BASE64_CHAR = 3 / 4

type MediaPart = {
  /** The member that holds it: a link, base64, or an object with either. */
  readonly payload: string
  /** What an ordinary one comes to. */
  readonly tokens: number
  /** For media that may be of any length: at most one token for so many bytes. */
  readonly bytesPerToken?: number
}

/** Content parts that carry media, by their `type`. */
const mediaParts: ReadonlyMap<unknown, MediaPart> = new Map<unknown, MediaPart>([
  ['image_url', { payload: 'image_url', tokens: IMAGE_TOKENS }],
  ['input_image', { payload: 'image_url', tokens: IMAGE_TOKENS }],
  ['image', { payload: 'source', tokens: IMAGE_TOKENS }],
  ['input_audio', { payload: 'input_audio', tokens: AUDIO_TOKENS }],
  ['audio_url', { payload: 'audio_url', tokens: AUDIO_TOKENS }],
  ['file', { payload: 'file', tokens: FILE_TOKENS, bytesPerToken: FILE_BYTES_PER_TOKEN }],
  ['input_file', { payload: 'file_data', tokens: FILE_TOKENS, bytesPerToken: FILE_BYTES_PER_TOKEN }],
  ['document', { payload: 'source', tokens: FILE_TOKENS, bytesPerToken: FILE_BYTES_PER_TOKEN }],
  ['video_url', { payload: 'video_url', tokens: VIDEO_TOKENS, bytesPerToken: VIDEO_BYTES_PER_TOKEN }],
])

/** Only here do parts carry media; anywhere else, such as in a tool's schema, the same shape is text to the model. */
export const conversationFields: ReadonlySet<string> = new Set(['messages', 'input'])

/** Is told what a walk over a request's body finds. */
export type InputSink = {
  /** A string or key, media left out. */
  text(text: string): void
  /** What is no text comes to so many tokens. */
  tokens(count: number): void
  /** A part with media comes to so many tokens ordinarily, and to so many at most. */
  media(tokens: number, most: number): void
}

/**
 * Walks the named fields of a request body, or all of them but plain numbers and switches: those set the model, and are no part of
 * its input. So a request with an output ceiling is estimated as the same one without.
 */
export function walkInput(
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

/** Walks a value that is input and nothing else. */
export function walkInputOf(value: unknown, sink: InputSink): void {
  walk(value, sink, true)
}

/** What `walkInput` finds. */
export function inputParts(body: Readonly<Record<string, unknown>>, fields?: readonly string[]): InputParts {
  const parts = new Collected()
  walkInput(body, parts, fields)
  return parts.parts
}

/** What `walkInputOf` finds. */
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

/** Keeps a stack of its own: a body may be nested deeper than the runtime's. */
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

function mostTokens({ tokens, bytesPerToken }: MediaPart, payload: unknown): number {
  if (bytesPerToken === undefined) return tokens
  const chars = inlineChars(payload)
  if (chars === 0) return UNBOUNDED_INPUT
  return Math.max(tokens, Math.ceil((chars * BYTES_PER_BASE64_CHAR) / bytesPerToken))
}

/** How much of a payload is there in base64; 0 for a link, or for the id of what the provider has. */
function inlineChars(payload: unknown): number {
  if (typeof payload === 'string') return isLink(payload) ? 0 : payload.length
  if (typeof payload !== 'object' || payload === null) return 0
  const { data, file_data: fileData, url } = payload as Readonly<Record<string, unknown>>
  let chars = 0
  for (const text of [data, fileData, url]) {
    if (typeof text === 'string' && !isLink(text)) chars += text.length
  }
  return chars
}

function isLink(text: string): boolean {
  return /^https?:/i.test(text)
}

function take(value: unknown, stack: object[], sink: InputSink): void {
  if (typeof value === 'string') sink.text(value)
  else if (typeof value === 'object' && value !== null) stack.push(value)
  else sink.tokens(1)
}
