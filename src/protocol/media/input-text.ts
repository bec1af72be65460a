import { Base64Decoder } from './base64-decoder.ts'
import { mediaTypeOf } from './media-signature.ts'

/** Any scheme, media type and parameters; only the encoding must be base64. */
const DATA_URL = /^data:[^,]{0,500};base64,/i

/** Where the base64 of a data URL begins; undefined for any other text. Its beginning is enough. */
export function dataUrlContent(text: string): number | undefined {
  return DATA_URL.exec(text)?.[0].length
}

/**
 * The bytes of an input that came as text: of a data URL, or of bare base64 whose signature is that of a media file.
 * Undefined for other text, which is a link, a provider's id, bytes of an unknown format, or none of these: see
 * `decodeBase64`.
 */
export function bytesOfInput(text: string): Uint8Array<ArrayBuffer> | undefined {
  const start = dataUrlContent(text)
  const bytes = decodeBase64(text.slice(start ?? 0))
  return start !== undefined || (bytes !== undefined && mediaTypeOf(bytes) !== undefined) ? bytes : undefined
}

/** The bytes of a text that is base64 of at least one byte; undefined for other text. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const source = new TextEncoder().encode(text)
  const bytes = new Uint8Array(Base64Decoder.roomFor(source.length))
  const decoder = new Base64Decoder()
  const length = decoder.finish(bytes, decoder.push(source, 0, source.length, bytes, 0))
  return decoder.isInvalid || length === 0 ? undefined : bytes.subarray(0, length)
}
