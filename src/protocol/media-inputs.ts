import type { InputKind } from '../domain/catalog/model.ts'
import { isJsonObject } from './json/parse-json.ts'

export type MediaKind = Exclude<InputKind, 'text'>

/** The place of the first part of each kind, such as `messages[3].content[1]`, in the order of the request. */
export type MediaInputs = ReadonlyMap<MediaKind, string>

type Body = Readonly<Record<string, unknown>>

/** The parts of all text routes that carry media, by their `type`. */
const kindOfType: ReadonlyMap<unknown, MediaKind> = new Map<unknown, MediaKind>([
  ['image_url', 'image'],
  ['input_image', 'image'],
  ['image', 'image'],
  ['computer_screenshot', 'image'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['file', 'file'],
  ['input_file', 'file'],
  ['document', 'file'],
  // Rows have no kind for videos. A model that reads them must list files.
  ['video_url', 'file'],
  ['input_video', 'file'],
])

/** The words for each kind in notes and errors. */
export const mediaWords = {
  image: { one: 'an image', many: 'images' },
  file: { one: 'a file', many: 'files' },
  audio: { one: 'audio', many: 'audio' },
} as const satisfies Record<MediaKind, { readonly one: string; readonly many: string }>

/** A message, a tool's result, a document of blocks and its image: no API nests parts deeper. */
const DEPTH_MAX = 5
const TITLE_CHARS_MAX = 200

/**
 * The media in the conversation of a request, except the kinds in `noted`, which `withNotes` replaces. Tools and the
 * inputs of calls may have the same shapes, and are text.
 */
export function mediaInputsOf(body: Body, noted?: ReadonlySet<MediaKind>): MediaInputs {
  const places = new Map<MediaKind, string>()
  withMedia(body, (part, kind, place) => {
    if (!places.has(kind) && noted?.has(kind) !== true) places.set(kind, placeText(place))
    return part
  })
  return places
}

/**
 * The request with each part of these kinds replaced by a text that says what was left out. For requests of the
 * messages route. The given body is not changed.
 */
export function withNotes(body: Body, kinds: ReadonlySet<MediaKind>): Body {
  if (kinds.size === 0) return body
  return withMedia(body, (part, kind) => (kinds.has(kind) ? noteOf(part, kind) : part))
}

function noteOf({ title }: Body, kind: MediaKind): Body {
  const { one, many } = mediaWords[kind]
  const isNamed = typeof title === 'string' && title !== ''
  const what = isNamed ? `the ${kind} ${JSON.stringify(title.slice(0, TITLE_CHARS_MAX))}` : one
  const text = `${what} was left out here, because this model does not read ${many}.`
  return { type: 'text', text: `[${text.charAt(0).toUpperCase()}${text.slice(1)}]` }
}

/** Gets a part with media and its place, and returns the part or what replaces it. */
type OnMedia = (part: Body, kind: MediaKind, place: Place) => Body

/** The names and indexes that lead to a part. It changes during the walk, so that places without media cost nothing. */
type Place = (string | number)[]

/** As error messages write a place: `messages[3].content[1]`. */
function placeText(place: Place): string {
  let text = ''
  for (const step of place) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`
  return text
}

function withMedia(body: Body, onMedia: OnMedia): Body {
  const place: Place = []
  const messages = partsWith(body['messages'], 'messages', place, onMedia)
  const input = partsWith(body['input'], 'input', place, onMedia)
  if (messages === body['messages'] && input === body['input']) return body
  return { ...body, ...(messages !== undefined && { messages }), ...(input !== undefined && { input }) }
}

/** `place` is of the object that has the list. Returns the same list if none of its parts is replaced. */
function partsWith(parts: unknown, name: string, place: Place, onMedia: OnMedia, depth = 1): unknown {
  if (!Array.isArray(parts) || depth > DEPTH_MAX) return parts
  let changed: unknown[] | undefined
  place.push(name)
  for (let index = 0; index < parts.length; index += 1) {
    const part: unknown = parts[index]
    if (!isJsonObject(part)) continue
    place.push(index)
    const replaced = partWith(part, place, onMedia, depth)
    if (replaced !== part) (changed ??= [...(parts as unknown[])])[index] = replaced
    place.pop()
  }
  place.pop()
  return changed ?? parts
}

/** A part with media itself, or with a list of parts: a message, the result of a tool, or a document of blocks. */
function partWith(part: Body, place: Place, onMedia: OnMedia, depth: number): Body {
  const kind = kindOf(part)
  if (kind !== undefined) return onMedia(part, kind, place)
  const { content, output, source } = part
  const inContent = partsWith(content, 'content', place, onMedia, depth + 1)
  if (inContent !== content) return { ...part, content: inContent }
  if (source !== undefined && isJsonObject(source)) {
    place.push('source')
    const inSource = partsWith(source['content'], 'content', place, onMedia, depth + 1)
    place.pop()
    if (inSource !== source['content']) return { ...part, source: { ...source, content: inSource } }
  }
  const inOutput = outputWith(output, place, onMedia, depth)
  return inOutput === output ? part : { ...part, output: inOutput }
}

/** The output of a call: a part, or a list of parts. */
function outputWith(output: unknown, place: Place, onMedia: OnMedia, depth: number): unknown {
  if (output === undefined || !isJsonObject(output) || kindOf(output) === undefined)
    return partsWith(output, 'output', place, onMedia, depth + 1)
  place.push('output')
  const replaced = partWith(output, place, onMedia, depth)
  place.pop()
  return replaced
}

/** Undefined for a part without media, such as a document whose text is in the request. */
function kindOf({ type, source }: Body): MediaKind | undefined {
  const kind = kindOfType.get(type)
  const isText =
    type === 'document' && isJsonObject(source) && (source['type'] === 'text' || source['type'] === 'content')
  return isText ? undefined : kind
}
