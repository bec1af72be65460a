import type { Bytes } from '../../domain/bytes.ts'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import type { MediaInput } from '../../gateway/ports/providers/media-provider.ts'

export type InputBytes = Extract<MediaInput, { readonly from: 'bytes' }>

/** Text, the bytes of an input, or the same bytes in base64. */
export type BodyPart = string | InputBytes | { readonly base64: InputBytes }

/** A body, or why the API cannot make the job: a sentence for the client. */
export type SubmitBody = readonly BodyPart[] | { readonly refusal: string }

/**
 * A value of a member. Bytes are sent as a string in base64, and the bytes of `dataUrl` as a data URL with their media
 * type. Members that are undefined are left out.
 */
export type MemberValue =
  | string
  | number
  | boolean
  | InputBytes
  | { readonly dataUrl: InputBytes }
  | WrittenJson
  | readonly MemberValue[]
  | Members
export type Members = { readonly [name: string]: MemberValue | undefined }

/** A value of a client, which is written as it came. None of its members means bytes of an input. */
export class WrittenJson {
  readonly text: string

  constructor(value: unknown) {
    this.text = JSON.stringify(value)
  }
}

/** The text of a JSON object as parts of a body. */
export function jsonParts(members: Members): readonly BodyPart[] {
  const written = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[`${JSON.stringify(name)}:`, ...valueParts(value)]],
  )
  return ['{', ...separated(written), '}']
}

function valueParts(value: MemberValue): readonly BodyPart[] {
  if (typeof value !== 'object') return [JSON.stringify(value)]
  if (value instanceof WrittenJson) return [value.text]
  if (isList(value)) return ['[', ...separated(value.map(valueParts)), ']']
  if (isBytes(value)) return ['"', { base64: value }, '"']
  if (isDataUrl(value)) {
    const { dataUrl } = value
    return [`"data:${dataUrl.mediaType};base64,`, { base64: dataUrl }, '"']
  }
  return jsonParts(value)
}

function separated(items: readonly (readonly BodyPart[])[]): readonly BodyPart[] {
  return items.flatMap((item, place) => (place === 0 ? item : [',', ...item]))
}

function isList(value: object): value is readonly MemberValue[] {
  return Array.isArray(value)
}

function isBytes(value: object): value is InputBytes {
  return 'open' in value && typeof value.open === 'function'
}

function isDataUrl(value: object): value is { readonly dataUrl: InputBytes } {
  return 'dataUrl' in value && typeof value.dataUrl === 'object'
}

/** A field of a form: text, or a file. */
export type FormField = { readonly name: string } & (
  | { readonly text: string }
  | { readonly file: InputBytes; readonly fileName: string }
)

/** The parts of a `multipart/form-data` body. No field may contain the boundary. */
export function formParts(fields: readonly FormField[], boundary: string): readonly BodyPart[] {
  return [...fields.flatMap(field => fieldParts(field, boundary)), `--${boundary}--\r\n`]
}

function fieldParts(field: FormField, boundary: string): readonly BodyPart[] {
  const disposition = `--${boundary}\r\ncontent-disposition: form-data; name="${field.name}"`
  if ('text' in field) return [`${disposition}\r\n\r\n${field.text}\r\n`]
  const { file, fileName } = field
  const type = `content-type: ${file.mediaType}`
  return [`${disposition}; filename="${fileName}"\r\n${type}\r\n\r\n`, file, '\r\n']
}

/** No prompt or file contains it, because the id of the job was made after they arrived. */
export function boundaryOf({ jobId }: { readonly jobId: string }): string {
  return `tollgate-${jobId}`
}

/** The end of a file's name: servers look at it. */
export function extensionOf(mediaType: string): string {
  return /^(?:image|video)\/([a-z0-9]+)$/.exec(mediaType)?.[1] ?? 'bin'
}

/** A request body of known length that is read while it is sent. */
export type JoinedBody = { readonly length: number; readonly stream: ByteStream }

const encoder = new TextEncoder()

/**
 * Joins parts into one body. An input is opened when its turn comes, and only one piece of it is in memory. Reads
 * reject if an input cannot be opened or does not have its declared length.
 */
export function joinedBody(parts: readonly BodyPart[]): JoinedBody {
  const encoded = joinedTexts(parts).map(part => (typeof part === 'string' ? encoder.encode(part) : part))
  const pieces = piecesOf(encoded)
  return {
    length: encoded.reduce((sum, part) => sum + lengthOf(part), 0),
    stream: {
      async read() {
        const { done, value } = await pieces.next()
        return done === true ? undefined : value
      },
      cancel: () => void pieces.return(),
    },
  }
}

type EncodedPart = Bytes | Exclude<BodyPart, string>

/** One part for texts in a row, so that each is not sent on its own. */
function joinedTexts(parts: readonly BodyPart[]): readonly BodyPart[] {
  const joined: BodyPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part
    else joined.push(part)
  }
  return joined
}

function lengthOf(part: EncodedPart): number {
  if (part instanceof Uint8Array) return part.length
  return 'base64' in part ? 4 * Math.ceil(part.base64.bytes / 3) : part.bytes
}

async function* piecesOf(parts: readonly EncodedPart[]): AsyncGenerator<Bytes, void> {
  for (const part of parts) {
    if (part instanceof Uint8Array) yield part
    else if ('base64' in part) yield* inBase64(inputPieces(part.base64))
    else yield* inputPieces(part)
  }
}

async function* inputPieces(input: InputBytes): AsyncGenerator<Bytes, void> {
  const stream = await input.open()
  try {
    let length = 0
    for (let piece = await stream.read(); piece !== undefined; piece = await stream.read()) {
      length += piece.length
      yield piece
    }
    if (length !== input.bytes) throw new Error(`An input of ${input.bytes} bytes has ${length}.`)
  } finally {
    stream.cancel()
  }
}

/** Base64 has four digits for three bytes, so what remains of a piece waits for the next one. */
async function* inBase64(pieces: AsyncIterable<Bytes>): AsyncGenerator<Bytes, void> {
  let rest = new Uint8Array(0)
  for await (const piece of pieces) {
    const bytes = new Uint8Array(rest.length + piece.length)
    bytes.set(rest)
    bytes.set(piece, rest.length)
    const whole = bytes.length - (bytes.length % 3)
    if (whole > 0) yield encoder.encode(bytes.subarray(0, whole).toBase64())
    rest = bytes.slice(whole)
  }
  if (rest.length > 0) yield encoder.encode(rest.toBase64())
}
