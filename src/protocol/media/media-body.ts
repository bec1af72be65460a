import type { Bytes } from '../../domain/bytes.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { StoredFile } from '../../domain/jobs/job.ts'
import { parseJsonObject, type SentText } from '../json/parse-json.ts'
import { unambiguousFields } from '../request-fields.ts'
import type { MediaType } from './media-signature.ts'

/** The body of a media request: its media inputs, and all other members, which are small. */
export type MediaBody = {
  /** The members that are not media inputs. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The approximate memory of the body. */
  readonly keptBytes: number
  readonly inputs: ReadonlyMap<InputName, readonly MediaInput[]>
}

/** One value of a media input. */
export type MediaInput =
  /** A link, a provider's id, or something that is neither. */
  | { readonly kind: 'text'; readonly text: string }
  /** Bytes that came as base64, as a data URL or as a file part, already in the blob store. */
  | { readonly kind: 'file'; readonly file: StoredFile }

/**
 * Names under which a request may carry images, in the order in which their values are joined (contract, image rule 7).
 */
export const imageNames = [
  'image',
  'images',
  'image_url',
  'image_urls',
  'input_image',
  'init_image',
  'ref_images',
] as const

/** Names under which a video request may carry videos, in the order in which their values are joined. */
export const videoNames = [
  'video',
  'videos',
  'video_url',
  'input_video',
  'motion_video',
  'ref_video',
  'ref_videos',
] as const

export type InputName = (typeof imageNames)[number] | (typeof videoNames)[number]

const MEGABYTE = 1024 * 1024

/** A longer string of a media input can only be base64. Links and ids are much shorter. */
export const TEXT_BYTES_MAX = 16 * 1024
/**
 * For everything that is kept in memory: all members besides media inputs, and the links among these. No model reads a
 * prompt of this length, and a list of jobs has the prompts of a hundred in memory.
 */
export const KEPT_BYTES_MAX = 4 * MEGABYTE
/** Of one input, decoded: the contract's 80 MB. */
export const FILE_BYTES_MAX = 80 * MEGABYTE

/** The events of a body while it is read. There are no other events between those of one file. */
export type MediaBodyEvent =
  /** A short string that is not a file: a link, a provider's id, base64 of an unknown format, or none of these. */
  | { readonly event: 'text'; readonly name: InputName; readonly text: string }
  /** The bytes of a file follow. `mediaType` is the format of its signature; undefined for any other format. */
  | { readonly event: 'file_start'; readonly name: InputName; readonly mediaType: MediaType | undefined }
  /** Valid until the reader is fed again. */
  | { readonly event: 'file_bytes'; readonly bytes: Bytes }
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
  feed(bytes: Bytes): readonly MediaBodyEvent[]
  /** The body has ended. Returns the members that are not media inputs. */
  end(): Readonly<Record<string, unknown>>
}

/**
 * The members of a JSON object that are not media inputs. Throws `invalid_json` for other text, and `ambiguous_field`
 * if a name that the gateway reads occurs twice or in another case.
 */
export function fieldsOf(
  text: SentText,
  { names, fields }: Pick<MediaBodyOptions, 'names' | 'fields'>,
): Readonly<Record<string, unknown>> {
  const document = parseJsonObject(text)
  unambiguousFields(document, new Set([...fields, ...names]), '')
  const others = Object.entries(document.value).filter(([key]) => !(names as ReadonlySet<string>).has(key))
  return Object.fromEntries(others)
}

/** For an input of more bytes than are allowed. */
export function fileTooLarge(param: string, bytesMax: number): GatewayError {
  const limit = `${bytesMax / MEGABYTE} MB`
  const message = `"${param}" has a file of more than ${limit}. Send a smaller one.`
  return new GatewayError('invalid_field', message, { param })
}

/** For an input without any byte: no model can use it. */
export function emptyFile(param: string): GatewayError {
  return new GatewayError(
    'invalid_field',
    `"${param}" has an empty file. Send a file with content, or leave it out.`,
    {
      param,
    },
  )
}

/** A limit for the part of a body that is kept in memory. Throws `invalid_field` when it is exceeded. */
export class KeptLimit {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#bytesMax) throw tooLong(this.#bytesMax)
  }
}

function tooLong(bytesMax: number): GatewayError {
  const limit = `${Math.floor(bytesMax / 1024)} KB`
  return new GatewayError(
    'invalid_field',
    `The body has more than ${limit} besides the files in it. Shorten its text fields or send fewer links.`,
  )
}

/** For a body that is not a multipart form; `reason` completes the sentence. */
export function invalidForm(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('malformed_request', `The multipart form is not valid: ${reason}.`, { cause })
}
