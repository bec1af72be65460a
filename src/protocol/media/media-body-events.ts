import type { InputName } from './input-names.ts'
import type { MediaType } from './media-signature.ts'

/** A longer string of a media input can only be base64. Links and ids are much shorter. */
export const TEXT_BYTES_MAX = 16 * 1024
/** For everything that is kept in memory: all members besides media inputs, and the links among these. */
export const KEPT_BYTES_MAX = 1024 * 1024
/** Of one input, decoded: the contract's 80 MB. */
export const FILE_BYTES_MAX = 80 * 1024 * 1024

/** The events of a body while it is read. There are no other events between those of one file. */
export type MediaBodyEvent =
  /** A short string that is not a file: a link, a provider's id, base64 of an unknown format, or none of these. */
  | { readonly event: 'text'; readonly name: InputName; readonly text: string }
  /** The bytes of a file follow. `mediaType` is the format of its signature; undefined for any other format. */
  | { readonly event: 'file_start'; readonly name: InputName; readonly mediaType: MediaType | undefined }
  /** Valid until the reader is fed again. */
  | { readonly event: 'file_bytes'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly event: 'file_end' }
  /** The rest of the string is not base64. The file must be dropped. */
  | { readonly event: 'file_invalid' }

export type MediaBodyOptions = {
  /** The members that are media inputs. */
  readonly names: ReadonlySet<InputName>
  /** The other members that the gateway reads. Each may occur once, and only in this spelling. */
  readonly fields: ReadonlySet<string>
  readonly textBytesMax?: number
  readonly keptBytesMax?: number
  readonly fileBytesMax?: number
}

/** Reads the body of a media request while it arrives. */
export interface BodyReader {
  /** How much of the body is in memory. */
  readonly bufferedBytes: number
  /** Takes the next bytes, which are not kept. */
  feed(bytes: Uint8Array<ArrayBuffer>): readonly MediaBodyEvent[]
  /** The body has ended. Returns the members that are not media inputs. */
  end(): Readonly<Record<string, unknown>>
}
