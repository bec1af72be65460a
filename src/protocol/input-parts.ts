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
/** A page or two of a document; its true size is known only to who opens it. */
export const FILE_TOKENS = 2_000
/** Half a minute of video at about 300 tokens a second. */
export const VIDEO_TOKENS = 10_000

/** Content parts that carry media, by their `type`, and the member that holds it: a link, base64, or an object with either. */
const mediaParts: ReadonlyMap<unknown, { readonly payload: string; readonly tokens: number }> = new Map([
  ['image_url', { payload: 'image_url', tokens: IMAGE_TOKENS }],
  ['input_image', { payload: 'image_url', tokens: IMAGE_TOKENS }],
  ['image', { payload: 'source', tokens: IMAGE_TOKENS }],
  ['input_audio', { payload: 'input_audio', tokens: AUDIO_TOKENS }],
  ['audio_url', { payload: 'audio_url', tokens: AUDIO_TOKENS }],
  ['file', { payload: 'file', tokens: FILE_TOKENS }],
  ['input_file', { payload: 'file_data', tokens: FILE_TOKENS }],
  ['document', { payload: 'source', tokens: FILE_TOKENS }],
  ['video_url', { payload: 'video_url', tokens: VIDEO_TOKENS }],
])

/** Only here do parts carry media; anywhere else, such as in a tool's schema, the same shape is text to the model. */
export const conversationFields: ReadonlySet<string> = new Set(['messages', 'input'])

/** Is told what a walk over a request's body finds. */
export type InputSink = {
  /** A string or key, media left out. */
  text(text: string): void
  /** What is no text comes to so many tokens. */
  tokens(count: number): void
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
    if (media !== undefined) sink.tokens(media.tokens)
    for (const key in object) {
      sink.text(key)
      if (key !== media?.payload) take(object[key], stack, sink)
    }
  }
}

function take(value: unknown, stack: object[], sink: InputSink): void {
  if (typeof value === 'string') sink.text(value)
  else if (typeof value === 'object' && value !== null) stack.push(value)
  else sink.tokens(1)
}
