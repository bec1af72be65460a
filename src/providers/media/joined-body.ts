import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import type { MediaInput } from '../../gateway/ports/media-provider.ts'

export type InputBytes = Extract<MediaInput, { readonly from: 'bytes' }>

/** Text, the bytes of an input, or the same bytes in base64. */
export type BodyPart = string | InputBytes | { readonly base64: InputBytes }

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

type EncodedPart = Uint8Array<ArrayBuffer> | Exclude<BodyPart, string>

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

async function* piecesOf(parts: readonly EncodedPart[]): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  for (const part of parts) {
    if (part instanceof Uint8Array) yield part
    else if ('base64' in part) yield* inBase64(inputPieces(part.base64))
    else yield* inputPieces(part)
  }
}

async function* inputPieces(input: InputBytes): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
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
async function* inBase64(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
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
